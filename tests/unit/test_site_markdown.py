"""Markdown of pages and its HTML: text from data is always shown as it is."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from serve.site.text import markdown, rendering, tables
from serve.site.text.markdown import Document, Markdown, code, link, plain, quoted
from tests.sites import Read
from tests.texts import lacking

EVIL = [
    "<script>alert(1)</script>",
    "A&B \"Q\" 'q' &lt; &#60;",
    "[text](https://example.org)",
    "**bold** `code` _low_",
    r"back\slash \[x\](/y) \\",
    "a | b",
    "](/profile)",
    "![](https://example.org/x.png)",
    "![x](#revenue)",
    "Name {#anchor}",
    "Caption:",
    "- a",
    "+ a",
    "1. a",
    "12) a",
    "> **folded**",
    "# heading",
    "```",
    "<https://example.org>",
    "www.example.org me@example.org",
    "{{ 7 * 7 }} {% x %} {## x ##}",
]
# where text from data stands: title, paragraph, first in a list, table, link, folded part
PLACES = """\
# {{ text }}

{{ text }}

{{ text }}

- {{ text }}

Table:

| Head | {{ text }} |
| --- | --- |
| {{ text }} | {{ text | link("/x") }} |

> **{{ text }}**
>
> {{ text }}
"""


def shown(text: str, **options: object) -> str:
    """The HTML of blocks."""
    return str(rendering.page(Document(f"# T\n\nS\n\n{text}\n", **options)).body)  # type: ignore[arg-type]


def places(text: str) -> rendering.Page:
    """A page with a text from data in all places."""
    return rendering.page(Document(markdown._environment().from_string(PLACES).render(text=text)))


@pytest.mark.parametrize("text", EVIL)
def test_text_from_data_is_shown_unchanged(text: str) -> None:
    """No character of it becomes an element, a link, an anchor or a mark."""
    page, usual = places(text), places("usual")
    assert Read(page.body).elements == [
        (tag, {name: (value or "").replace("usual", text) for name, value in known.items()})
        for tag, known in Read(usual.body).elements
    ]
    assert Read(page.body).text == Read(usual.body).text.replace("usual", text)
    assert page.title.unescape() == page.summary.unescape() == text


@example("00-F")
@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1))
def test_any_text_from_data_is_shown_unchanged(text: str) -> None:
    words = " ".join(text.split())
    page = places(words)
    # dates and forms are elements that do not break
    assert page.title.striptags() == page.summary.striptags() == words
    assert not {"a", "script", "img"} & {tag for tag, known in Read(page.body).elements if known.get("href") != "/x"}


CELLS = st.text(st.sampled_from("ab 1-–⁵/#()[]*_`!&<>\\↓"), max_size=12)


LINKS = st.builds("[{}]({}{})".format, CELLS, st.sampled_from(["/", "#", "", "https://"]), CELLS)
EMPHASIZED = st.builds("*{}*".format, st.text(st.sampled_from("a1 -–⁵/()_!&<>\xa0"), max_size=8))


TEXTS = st.one_of(CELLS, LINKS, EMPHASIZED, st.builds("{}{}{}".format, LINKS, st.sampled_from([" ", ""]), EMPHASIZED))
ROWS = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(TEXTS | TEXTS.map(plain) | st.just(r"`a\|b`"), min_size=width, max_size=width), min_size=1, max_size=4
    )
)
ANY_CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>")


@given(ROWS)
def test_a_table_has_the_cells_that_markdown_it_draws(rows: list[list[str]]) -> None:
    """Its own rule for tables makes the same HTML of each cell, token by token."""
    head, *body = ["|".join(["", *(f" {text} " for text in row), ""]) for row in rows]
    text = "\n".join([head, "|".join(["", *(" ---: " for _ in rows[0]), ""]), *body])
    ordinary = MarkdownIt("zero", renderer_cls=rendering.Html).enable(rendering.RULES)
    ordinary.validateLink, ordinary.normalizeLink = rendering._is_address, rendering._as_it_is  # type: ignore[method-assign]
    expected = ordinary.render(text, {"root": "/data"})
    drawn = str(rendering.page(Document(f"# T\n\nS\n\n{text}\n"), "/data").body)
    assert expected.startswith("<table>")
    assert [ANY_CELL.findall(row) for row in drawn.split("</tr>")] == [
        ANY_CELL.findall(row) for row in expected.split("</tr>")
    ]


def test_most_cells_of_a_table_are_simple() -> None:
    """Numbers, reasons and links to them; text with marks is not."""
    simple = ["−12.5%", "–⁵", "[126,100](/companies/BRK-B/revenue/FY2024)", "R&D <i>", "[1](#a)", ""]
    simple += ["[126,100](/companies/BRK-B/revenue/FY2024) *was 9*", "*2024-12-31*"]
    marked = [
        "a *b*",
        "* b*",
        "*b *",
        "[a](/b) c",
        "[a](/b) ",
        "[a](/b) **c**",
        "[a](x:b)",
        r"a\*",
        "[a](/b&amp;c)",
        "`a`",
    ]
    assert [tables.simple(text, "") is not None for text in (*simple, *marked)] == [True] * 8 + [False] * 10


def test_templates_escape_what_they_fill_in() -> None:
    template = markdown._environment().from_string("{{ a }} {{ a | marked }} {{ a | code }} {{ n }}")
    assert template.render(a="*b*", n=7) == r"\*b\* *b* `*b*` 7"


TIME = '<time datetime="2026-03-02T06:05:00Z">2026-03-02 06:05 UTC</time>'


SHOWN = {
    "marks become elements, also nested": (
        "see **the `x` of [it & that](/y)**",
        '<p>see <strong>the <code>x</code> of <a href="/y">it &amp; that</a></strong></p>\n',
    ),
    "code cannot be ended by data": (code("a`b <i> [x](/y)"), "<p><code>a'b &lt;i&gt; [x](/y)</code></p>\n"),
    "brackets in an address are percent-encoded, so that they do not end the link": (
        link("x", "https://example.org/a_(b)"),
        '<p><a href="https://example.org/a_%28b%29">x</a></p>\n',
    ),
    "HTML is text, and images are never loaded": (
        "<b>x</b> ![y](https://example.org/z.png)",
        "<p>&lt;b&gt;x&lt;/b&gt; y</p>\n",
    ),
    "an image of this site is not loaded either": ("![y](/z.png)", '<p class="unseen">y</p>\n'),
    "a table has a caption, anchors and columns of numbers": (
        "The `codes` {#code-}:\n\n| Code | Count |\n| --- | ---: |\n| `a_b` | 1 |",
        '<div class="scroll" role="region" tabindex="0" aria-label="The codes">\n<table>\n'
        "<caption>The <code>codes</code></caption>\n"
        '<thead>\n<tr>\n<th scope="col">Code</th>\n<th scope="col" class="num">Count</th>\n</tr>\n</thead>\n'
        '<tbody>\n<tr id="code-a_b">\n<th scope="row"><code>a_b</code></th>\n<td class="num">1</td>\n</tr>\n</tbody>\n'
        "</table>\n</div>\n",
    ),
    "a quotation with a title is folded": (
        quoted("**More**\n\ninner\n\n- x"),
        "<details>\n<summary>More</summary>\n<p>inner</p>\n<ul>\n<li>x</li>\n</ul>\n</details>\n",
    ),
    "an emphasized paragraph is small": (
        "*all [of](/it)*",
        '<p class="muted small">all <a href="/it">of</a></p>\n',
    ),
    "two emphasized texts are no paragraph": ("*one* and *two*", "<p><em>one</em> and <em>two</em></p>\n"),
    "times are shown for people": ("at 2026-03-02T06:05:00Z.", f"<p>at {TIME}.</p>\n"),
    "a time of code is code": ("`2026-03-02T06:05:00Z`", "<p><code>2026-03-02T06:05:00Z</code></p>\n"),
}


@pytest.mark.parametrize(("text", "html"), SHOWN.values(), ids=SHOWN)
def test_the_html_of_marks(text: str, html: str) -> None:
    assert shown(text) == html


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\n\n# b", r"a \# b"),  # a name of two lines cannot start a new block
        ("-5", "-5"),
        (Markdown("**a**"), "**a**"),
    ],
)
def test_data_is_plain_text_and_marked_text_stays_as_it_is(text: str, written: str) -> None:
    assert plain(text) == written
    assert link(text, "/b") == f"[{written}](/b)"


def test_an_image_in_a_table_is_its_text() -> None:
    assert '<th scope="row">y</th>' in shown("| x |\n| --- |\n| ![y](/z.png) |")


@pytest.mark.parametrize("root", ["", "/data"])
def test_paths_in_links_get_the_prefix_of_the_site(root: str) -> None:
    """Behind a proxy that serves the site below a path; other addresses and anchors stay unchanged."""
    page = rendering.page(Document("# T\n\n[a](/b) [c](#d) [e](https://example.org/f)"), root)
    assert page.summary == Markup(f'<a href="{root}/b">a</a> <a href="#d">c</a> <a href="https://example.org/f">e</a>')


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScript:x", "data:text/html,x", "ftp://example.org", "x y", "&#106;avascript:x"],
)
def test_a_link_has_an_address_of_the_web_or_is_text(address: str) -> None:
    """A javascript: address in the data never becomes a link, nor one in a text with marks."""
    assert link("text", address) == link("text", "") == "text"
    assert "href" not in shown(f"[text]({address})")
    assert "href" not in shown(f"<{address}>")


def test_code_has_a_title_and_a_button_if_it_has_an_anchor() -> None:
    copied, other = (Read(shown(f"{title}:\n\n```sh\necho <b>\n```")) for title in ("Shell {#run}", "Shell"))
    button = ("button", {"class": "button quiet", "type": "button", "data-copy": "#run", "hidden": None})
    assert (copied.words, copied.ids, button in copied.elements) == ("ShellCopy echo <b>", ["run"], True)
    assert other.words == "Shell echo <b>"


def test_other_quotations_are_notices() -> None:
    for text in ("No data.", "**More** than a title", "**One** and **two**"):
        html = shown(quoted(text) + "\nnext")
        assert html.startswith('<div class="notice warning">\n<p>')
        assert html.endswith("</p>\n</div>\n<p>next</p>\n")


@pytest.mark.parametrize(
    ("style", "html"),
    [
        ("terms", '<dl class="terms wide"><div><dt>{}</dt><dd>{}</dd></div><div><dt>{}</dt><dd>{}</dd></div></dl>'),
        (
            "cards",
            '<div class="grid"><div class="card"><h3>{}</h3><p>{}</p></div>'
            '<div class="card"><h3>{}</h3><p>{}</p></div></div>',
        ),
    ],
)
def test_a_list_of_terms_has_the_look_of_its_heading(style: str, html: str) -> None:
    """Lists under other headings do not, nor paragraphs before and after it."""
    page = shown("## A {#a}\n\nx\n\n- **b**: c\n- `d`: *e*\n\ny\n\n## F {#f}\n\n- **g**: h", styles=(("a", style),))
    [styled] = re.findall(r"<p>x</p>\n(.*)<p>y</p>", page, re.DOTALL)
    assert styled.replace("\n", "") == html.format("b", "c", "<code>d</code>", "<em>e</em>")
    assert page.endswith("<ul>\n<li><strong>g</strong>: h</li>\n</ul>\n")


def test_numbered_steps() -> None:
    assert shown("## A {#a}\n\n1. **b** c", styles=(("a", "steps"),)).endswith(
        '<ol class="steps">\n<li><strong>b</strong> c</li>\n</ol>\n'
    )


def test_of_several_programs_a_reader_chooses_one() -> None:
    """With radio buttons, so that it works without a script; without the style sheet all are shown."""
    first, second = ("{0} {{#{1}}}:\n\n```sh\n{1}\n```\n\n".format(name, name.lower()) for name in "AB")
    both = shown(first + second)
    assert both.startswith('<fieldset class="tabs">\n<legend class="unseen">Language of the example</legend>\n')
    assert not lacking(
        both,
        '<input type="radio" name="a-tabs" id="a-tab" checked><label for="a-tab">A</label>',
        '<input type="radio" name="a-tabs" id="b-tab"><label for="b-tab">B</label>',
    )
    assert (both.count('<div class="code">'), both[-len("</fieldset>\n") :]) == (2, "</fieldset>\n")
    answer = "B:\n\n```json\nb\n```\n\n"
    for alone in (first, answer * 2, first + answer):
        assert "tabs" not in shown(alone)


def test_a_drawing_is_hidden_from_screen_readers_which_read_its_text() -> None:
    text, svg = "![A chart.](#revenue)", Markup("<svg></svg>")
    assert shown(text, drawings=(("revenue", svg),)) == '<svg></svg><p class="unseen">A chart.</p>\n'
    assert shown(text) == '<p class="unseen">A chart.</p>\n'


def test_the_first_list_may_be_a_legend() -> None:
    marked = shown("- a *line*\n- a bar\n\nText\n\n- other", marks=(Markup("<i>"), Markup("<u>")))
    assert marked == (
        '<ul class="legend">\n<li><i><span>a <em>line</em></span></li>\n<li><u><span>a bar</span></li>\n</ul>\n'
        "<p>Text</p>\n<ul>\n<li>other</li>\n</ul>\n"
    )


def test_cards_are_the_parts_under_headings_of_one_level() -> None:
    """The parts before it stay as they are."""
    text = "first\n\n## A {#a}\n\n## C {#c}\n\nall\n\n### D {#d}\n\ntext\n\n### E {#e}"
    assert shown(text, cards="h3") == (
        '<p>first</p>\n<h2 id="a">A</h2>\n<h2 id="c">C</h2>\n<p>all</p>\n<div class="charts">\n'
        '<section class="chart" aria-labelledby="d">\n<h3 id="d">D</h3>\n<p>text</p>\n</section>\n'
        '<section class="chart" aria-labelledby="e">\n<h3 id="e">E</h3>\n</section>\n</div>\n'
    )


def test_contents_list_the_main_headings() -> None:
    """If the page asks for a table of contents, which may have shorter texts."""
    text = "# T\n\nS\n\n## A `x` {#a}\n\n### B {#b}\n\n## C {#c}\n"
    page = rendering.page(Document(text, contents=(("c", "Short & good"),)))
    assert page.contents == (("a", "A <code>x</code>"), ("c", "Short &amp; good"))
    assert rendering.page(Document(text)).contents == ()
