"""How good the values are: held against each other and against what filers state, and the report of a build.

Belongs here: what must be true of values whatever they are, and what people look at after a build.
Does not: how a value is made (normalize), what holds back publishing (checks).
"""
