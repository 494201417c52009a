"""Commands of the operator: doctor, backup, restore and kept builds."""
