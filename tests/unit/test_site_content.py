"""Text with marks as HTML and as Markdown: text from data is always escaped."""

import pytest
from markupsafe import Markup

from serve.site import content, markdown
from serve.site.content import (
    Cards,
    Code,
    Document,
    Drawing,
    Examples,
    Folded,
    Grid,
    Heading,
    Legend,
    Paragraph,
    Points,
    Search,
    inline,
    link,
    plain,
)
from serve.site.pages import DISCLAIMER

EVIL = [
    "<script>alert(1)</script>",
    "A&B \"Q\" 'q'",
    "[text](https://example.org)",
    "**bold** `code` _low_",
    r"back\slash \[x\](/y)",
    "a | b",
    "](/profile)",
    "![](https://example.org/x.png)",
]


@pytest.mark.parametrize("text", EVIL)
def test_text_from_data_is_shown_unchanged(text):
    """No character in a name becomes a tag, a link or a mark: unescaped, the HTML is the original text."""
    made = inline(plain(text))

    assert made.unescape() == text
    assert "<" not in made
    assert content.bare(plain(text)) == text or "<" in text


def test_line_feeds_in_data_are_removed():
    """A name of two lines cannot start a new block."""
    assert plain("a\n\n# b") == r"a \# b"


def test_marks_become_elements():
    """The four marks, also nested."""
    assert inline("see **the `x` of [it & that](/y)**") == Markup(
        'see <strong>the <code>x</code> of <a href="/y">it &amp; that</a></strong>'
    )


def test_paths_in_links_get_the_prefix_of_the_site():
    """Behind a proxy that serves the site below a path; other addresses and anchors stay unchanged."""
    marked = "[a](/b) [c](#d) [e](https://example.org/f)"
    assert inline(marked, "/data") == Markup(
        '<a href="/data/b">a</a> <a href="#d">c</a> <a href="https://example.org/f">e</a>'
    )


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "ftp://example.org", "", "x y"])
def test_a_link_has_an_address_of_the_web_or_is_text(address):
    """A javascript: address in the data never becomes a link."""
    assert link("text", address) == "text"
    assert "href" not in inline(f"[text]({address})")


def test_brackets_in_an_address_are_percent_encoded():
    """So that they do not end the link."""
    assert inline(link("x", "https://example.org/a_(b)")) == Markup('<a href="https://example.org/a_%28b%29">x</a>')


def test_every_block_is_rendered_as_markdown():
    """Both have all the text, except blocks that only work in a browser; links within the site become absolute."""
    document = Document(
        "Title",
        "Summary.",
        (
            Heading("Part", "part"),
            Paragraph("See [errors](/errors) and [part](#part)."),
            Points(("one", "two")),
            Grid("Numbers", ("Name", "Value"), (("a", "1"), (plain("b|c"), "2")), numbers=frozenset({1})),
            Code("sh", "echo", "Shell"),
            Examples((Code("python", "print()", "Python"), Code("js", "alert()", "JavaScript"))),
            Legend(((Markup("<svg></svg>"), "a line"),)),
            Cards(((Heading("Card", "card"), Drawing(Markup("<svg></svg>"), "A chart.")),)),
            Folded("More", (Paragraph("inner"),)),
            Search("Name", "search", ""),
        ),
    )

    assert markdown.render(document, "https://data.example.org", "/page") == (
        "# Title\n\nSummary.\n\n## Part\n\n"
        "See [errors](https://data.example.org/errors) and [part](https://data.example.org/page#part).\n\n"
        "- one\n- two\n\n"
        "Numbers:\n\n| Name | Value |\n| --- | ---: |\n| a | 1 |\n| b\\|c | 2 |\n\n"
        "Shell:\n\n```sh\necho\n```\n\nPython:\n\n```python\nprint()\n```\n\nJavaScript:\n\n```js\nalert()\n```\n\n"
        "- a line\n\n## Card\n\nA chart.\n\n**More**\n\ninner\n\n"
        f"---\n\n{DISCLAIMER}\n"
    )


def test_contents_list_the_main_headings():
    """Those of the second level, if the page asks for a table of contents."""
    blocks = (Heading("A", "a"), Heading("B", "b", 3), Heading("C", "c"))
    assert [heading.text for heading in Document("t", "s", blocks, has_contents=True).contents] == ["A", "C"]
    assert Document("t", "s", blocks).contents == ()
