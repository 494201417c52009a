"""The command that writes docs/data-dictionary.md: `python -m pipelines.dictionary`.

Belongs here: bringing the schema and the rules' elements together. Does not: the layout of the page
(warehouse.dictionary), the elements (normalize.concepts).
"""

from pathlib import Path

from pipelines.normalize.concepts import describe_sources
from warehouse import dictionary, schema

PAGE = Path(__file__).resolve().parent.parent / "docs" / "data-dictionary.md"


def page() -> str:
    """The data dictionary as the schema and the rules are now."""
    return dictionary.render({item: describe_sources(item) for item in schema.ITEM_NAMES})


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
