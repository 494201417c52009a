"""Rules that decide about statements as filed: tests.unit.test_faces has the documents of each."""

OF_FACES = (
    "balance.line-of-face",
    "balance.restated.by-face",
    "debt.withheld.own-line-not-classified",
    "source.line-of-statement",
)
