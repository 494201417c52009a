"""The forms of the reference that send a request with the reader's key, and show the answer.

Belongs here: the fields of a form, from the description's parameters. Does not: sending the request and showing the
answer (static/trial.js), which requests there are (reference).

Without the script a form stays hidden. The field of the key has no name, so that no browser puts the key in an address.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

ASSETS = ("trial.js", "trial.css")

FORM = Markup("""<form class="trial" method="get" action="{address}" hidden>
<details>
<summary>Send this request</summary>
<div class="fields">
{fields}<button class="button" type="submit">Send</button>
</div>
{note}<p role="status"></p>
<div class="answer" hidden>
<dl class="facts"></dl>
<pre tabindex="0" role="group" aria-label="Answer to {path}"><code></code></pre>
</div>
</details>
</form>
""")
KEY = Markup(
    '<label><span>Your key</span><input type="password" data-key required autocomplete="off" spellcheck="false">'
    "</label>\n"
)
NOTE = Markup('<p class="muted small">It counts in the limits of your key, which stays in this page.</p>\n')
FIELD = Markup("<label><span>{name}</span>{control}</label>\n")
INPUT = Markup('<input name="{name}" value="{value}"{more} autocomplete="off" spellcheck="false">')
SELECT = Markup('<select name="{name}">{options}</select>')
OPTION = Markup("<option{chosen}>{text}</option>")
REQUIRED = Markup(" required data-path")


def form(
    base_url: str, path: str, parameters: Iterable[Mapping[str, Any]], values: Mapping[str, object], *, needs_key: bool
) -> Markup:
    """The form of an endpoint.

    Args:
        base_url: the public address of the interface; a form sends its request to the host of the page.
        path: the path template of the endpoint.
        parameters: its parameters, as in the description.
        values: the values of the example, with which the fields are filled in.
        needs_key: whether the request sends a key.
    """
    note = NOTE if needs_key else ""
    fields = [FIELD.format(name=one["name"], control=_control(one, values.get(one["name"], ""))) for one in parameters]
    return FORM.format(
        address=urlsplit(base_url).path + path, path=path, fields=Markup().join([KEY] * needs_key + fields), note=note
    )


def _control(parameter: Mapping[str, Any], value: object) -> Markup:
    """The field of a parameter; an empty field is not sent."""
    name, schema = parameter["name"], parameter["schema"]
    if "enum" in schema:
        options = [
            OPTION.format(chosen=Markup(" selected") if each == value else "", text=each)
            for each in ("", *schema["enum"])
        ]
        return SELECT.format(name=name, options=Markup().join(options))
    more = Markup("")
    if schema.get("type") == "integer":
        more = Markup(' type="number" min="{}" max="{}"').format(schema["minimum"], schema["maximum"])
    elif schema.get("format") == "date":
        more = Markup(' type="date"')
    return INPUT.format(name=name, value=value, more=more + (REQUIRED if parameter["in"] == "path" else ""))
