"""The example of mail and Slack for alarms: Alertmanager accepts it, and it goes with the rules of Prometheus."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from tests.unit.test_docs import anchors
from tests.unit.test_operations import DEPLOY, PAGE, ROOT, RULES

FILE = DEPLOY / "prometheus" / "alertmanager.yml"
TEMPLATE = FILE.with_suffix(".tmpl")
CONFIGURATION: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
RECEIVERS = {receiver["name"]: receiver for receiver in CONFIGURATION["receivers"]}
ALARMS = {rule["alert"]: rule for rule in RULES}
TO = {"page": "at once", "ticket": "working day"}
"""The receiver of each severity."""


@pytest.fixture
def amtool(program: Callable[[str, str], str]) -> Callable[..., str]:
    """Runs amtool; its output."""
    executable = program("amtool", "prometheus-alertmanager")

    def run(*arguments: object) -> str:
        done = subprocess.run(
            [executable, *map(str, arguments)], cwd=FILE.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def texts(value: object) -> Iterator[str]:
    """All texts in a configuration."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(each)


def test_alertmanager_accepts_the_file(amtool):
    told = amtool("check-config", FILE)
    assert "2 receivers" in told
    assert "1 templates" in told


def test_each_alarm_goes_to_the_receiver_of_its_severity(amtool):
    for name, rule in ALARMS.items():
        labels = [f"alertname={name}", f"severity={rule['labels']['severity']}"]
        told = amtool("config", "routes", "test", f"--config.file={FILE}", *labels)
        assert told.strip() == TO[rule["labels"]["severity"]]


def test_the_file_names_alarms_severities_and_receivers_that_exist():
    alarms = {name for text in texts(CONFIGURATION) for name in re.findall(r"Fundamentals\w+", text)}
    assert len(alarms) > 2
    assert alarms <= {*ALARMS}
    route = CONFIGURATION["route"]
    severities = [matcher.removeprefix("severity = ") for each in route["routes"] for matcher in each["matchers"]]
    assert severities == [*TO]
    assert {rule["labels"]["severity"] for rule in RULES} == {*TO}
    assert {each.get("receiver", route["receiver"]) for each in (route, *route["routes"])} == {*RECEIVERS}
    intervals = {name for each in route["routes"] for name in each.get("active_time_intervals", ())}
    assert intervals == {each["name"] for each in CONFIGURATION["time_intervals"]}


def test_pages_go_to_slack_and_by_mail_and_tickets_by_mail():
    kinds = {name: {kind for kind in receiver if kind != "name"} for name, receiver in RECEIVERS.items()}
    assert kinds == {"at once": {"slack_configs", "email_configs"}, "working day": {"email_configs"}}


def test_the_file_has_no_secret():
    assert {name for name in CONFIGURATION["global"] if "password" in name or "api_url" in name} == {
        "smtp_auth_password_file",
        "slack_api_url_file",
    }


def test_a_message_says_what_and_where_and_leads_to_what_to_do(amtool, tmp_path):
    """The texts come from the template, and link to the section of the alarm."""
    rule = ALARMS["FundamentalsDown"]
    shared = {"alertname": rule["alert"], "instance": "127.0.0.1:9464", **rule["labels"]}
    alert = {"status": "firing", "labels": shared, "annotations": rule["annotations"]}
    (tmp_path / "data.json").write_text(
        json.dumps(
            {
                "status": "firing",
                "alerts": [alert | {"startsAt": "2026-03-02T21:05:00Z", "endsAt": "2026-03-02T22:05:00Z"}],
                "commonLabels": shared,
                "commonAnnotations": rule["annotations"],
            }
        )
    )
    used = {text for receiver in RECEIVERS.values() for text in texts(receiver) if "template" in text}
    shown = sorted(
        amtool(
            "template",
            "render",
            f"--template.glob={TEMPLATE}",
            f"--template.text={text}",
            f"--template.data={tmp_path / 'data.json'}",
        ).strip()
        for text in used
    )
    assert shown == [
        "Firing: The service does not answer (127.0.0.1:9464)",
        "The service does not answer: 127.0.0.1:9464, since 2026-03-02 21:05 UTC\n"
        "What to do: docs/operations.md#fundamentalsdown",
    ]
    assert {name.lower() for name in ALARMS} <= anchors(ROOT / "docs" / "operations.md")


def test_the_page_names_the_files():
    for name in (FILE.name, TEMPLATE.name, *re.findall(r"/etc/[\w/-]+", FILE.read_text(encoding="utf-8"))):
        assert name in PAGE
