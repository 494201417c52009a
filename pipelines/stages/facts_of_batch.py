"""The facts of the documents of a batch of companies.

Belongs here: choosing the facts of a new document and the earlier facts that are kept. Does not: choosing documents
(facts), the format of a document (edgar.decode.documents), the limits that hold a company back (quarantine).
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import polars as pl

from pipelines.edgar.decode.documents import FactColumns, decode_facts
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.fetch.raw_store import Documents
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.facts.reports import usable
from pipelines.one_thread import in_one_thread
from pipelines.stages.batch import quarantine
from pipelines.stages.batch.batches import Batch
from pipelines.stages.batch.held_back import DocumentNotes
from pipelines.stages.batch.quarantine import quarantined
from pipelines.storage.lake import Lake


@in_one_thread
def work(home: Path, lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], DocumentNotes]:
    """The facts of a batch of companies; the documents that cannot be used, and the counts of suspicious documents."""
    store, columns, broken = Documents(home), FactColumns(), []
    store.bring(batch.documents.values())
    for cik, digest in batch.documents.items():
        try:
            columns.extend(decode_facts(store.get(digest), cik, wanted_elements()).columns)
        except (DocumentError, CorruptError) as error:
            broken.append(quarantined(cik, error, digest))
    decoded = pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())
    held = lake.of_companies("facts", sorted({*batch.documents})) if lake.holds("facts") else decoded.clear()
    before = held.filter(~pl.col("cik").is_in([*batch.accepted, *(row[0] for row in broken)]))
    count_before, count = (usable(frame) if before.height else frame.clear() for frame in (before, decoded))
    refused = quarantine.losses(count, count_before, wanted_elements())
    broken += [
        (cik, reason, f"companyfacts of CIK {cik}", batch.documents[cik]) for cik, reason in sorted(refused.items())
    ]
    kept = decoded.filter(~pl.col("cik").is_in(list(refused)))
    # earlier facts that EDGAR has since removed or made unusable are kept, because they were filed too
    same_fact = partial(pl.DataFrame.join, on=quarantine.FACT, nulls_equal=True)
    dropped = same_fact(before.join(kept, on="cik", how="semi"), kept, how="anti")
    as_filed = count_before.join(count, on=quarantine.AS_FILED, how="anti", nulls_equal=True)
    spoiled = same_fact(as_filed, kept, how="semi")
    suspicions = quarantine.suspicions(kept, before, datetime.now(UTC).date())
    return {"facts": pl.concat([same_fact(kept, spoiled, how="anti"), dropped, spoiled])}, (broken, suspicions)
