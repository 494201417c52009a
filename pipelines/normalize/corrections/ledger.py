"""Repairs: errors of scale, sign and context that identities between facts prove, and the record of each.

Belongs here: the order of the repairs, and how one is written down. Does not: what proves an error (identities,
scale, signs, contexts).
"""

import polars as pl

from pipelines.normalize.corrections import contexts, identities, scale, signs

SCALE, SIGN, CONTEXT = "scale", "sign", "context"

WHAT = ["cik", "seq", "concept", "start", "end"]


def repaired(vintages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Put right what a filing states wrongly, and leave out what it states for another period.

    Args:
        vintages: of stated.stated_concepts, with `measure_sign`.

    Returns:
        sound: the vintages that count, `value` and `grain` times `repair` (1 where nothing was to do).
        repairs: one row a figure: `cik`, `seq`, `concept`, `start`, `end`, `kind` (scale, sign, context),
            `filed_value`, `value` (null where the figure is left out) and `evidence`.
    """
    signed = signs.repaired(scale.repaired(identities.repaired(vintages)))
    wrong = contexts.misplaced(signed)
    sound = signed.join(wrong, on="vintage", how="anti", maintain_order="left")
    filed_value = pl.col("value") / pl.col("repair")
    turned = sound.filter(pl.col("repair") != 1).select(
        *WHAT,
        kind=pl.when(pl.col("repair") == -1).then(pl.lit(SIGN)).otherwise(pl.lit(SCALE)),
        filed_value=filed_value,
        value="value",
        evidence="evidence",
    )
    of_period = pl.concat_str(pl.lit("it is the figure of "), "true_start", pl.lit(" to "), "true_end")
    left_out = signed.join(wrong, on="vintage").select(
        *WHAT,
        kind=pl.lit(CONTEXT),
        filed_value=filed_value,
        value=pl.lit(None, pl.Float64),
        evidence=pl.concat_str(of_period, pl.lit(", and filings so far say otherwise of this period")),
    )
    return sound.drop("evidence"), pl.concat([turned, left_out]).sort(*WHAT, nulls_last=True)
