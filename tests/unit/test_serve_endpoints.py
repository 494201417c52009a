"""Endpoints without a published build."""

import pytest

from serve.api.endpoints import Question
from serve.http.errors import ServerError


def test_without_a_build_endpoints_raise_a_server_error() -> None:
    question = Question(None, True, "https://data.example.org/v1", "", {}, 0.0)
    with pytest.raises(ServerError, match="No data has been published yet"):
        _ = question.build
