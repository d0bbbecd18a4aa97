"""Calls operations with a client that openapi-python-client generated: `python pythonCalls.py FOLDER ORIGIN < CALLS`.

FOLDER has the package `generated`. CALLS is a JSON list of `{"id", "sample"}`, of samples.ts. Prints a JSON object of
`[status, value]` or an error's text by id.
"""

import importlib
import io
import json
import pkgutil
import sys
import typing

folder, origin = sys.argv[1:]
sys.path.insert(0, folder)
generated = importlib.import_module("generated")
types = importlib.import_module("generated.types")
default = importlib.import_module("generated.api.default")


def letters(name):
    return "".join(filter(str.isalnum, name)).lower()


modules = {letters(each.name): f"generated.api.default.{each.name}" for each in pkgutil.iter_modules(default.__path__)}


def members(hint):
    return typing.get_args(hint) if typing.get_origin(hint) is not list and typing.get_args(hint) else (hint,)


def typed(value, hint):
    """Returns a sample as the type that the client declares."""
    if isinstance(value, dict) and "file" in value:
        file = value["file"]
        return types.File(payload=io.BytesIO(file["text"].encode()), file_name=file["name"])
    for member in members(hint):
        if isinstance(value, dict) and hasattr(member, "from_dict"):
            try:
                return member.from_dict(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        if isinstance(value, list) and typing.get_origin(member) is list:
            return [typed(each, typing.get_args(member)[0]) for each in value]
        if isinstance(value, (str, int)) and hasattr(member, "__members__"):
            return member(value)
    return value


def form(body, hint):
    """Returns the model of a form with files."""
    model = next(each for each in members(hint) if hasattr(each, "from_dict"))
    hints = typing.get_type_hints(model.__init__, vars(sys.modules[model.__module__]) | vars(importlib.import_module("datetime")))
    return model(**{name: typed(value, hints.get(name)) for name, value in body.items()})


def to_json(value):
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list):
        return [to_json(each) for each in value]
    return value.payload.read().decode() if isinstance(value, types.File) else value


def call(client, id, sample):
    module = importlib.import_module(modules[letters(id)])
    hints = typing.get_type_hints(module.sync_detailed)
    names = {letters(name): name for name in hints}
    values = {**sample.get("path", {}), **sample.get("query", {}), **sample.get("headers", {}), **sample.get("cookie", {})}
    arguments = {names[letters(name)]: value for name, value in values.items()}
    arguments = {name: typed(value, hints[name]) for name, value in arguments.items()}
    if "body" in sample and "body" in hints:
        body = sample["body"]
        has_files = isinstance(body, dict) and "file" not in body and '"file": {' in json.dumps(body)
        arguments["body"] = form(body, hints["body"]) if has_files else typed(body, hints["body"])
    response = module.sync_detailed(client=client, **arguments)
    return [response.status_code, to_json(response.parsed)]


results = {}
client = generated.AuthenticatedClient(base_url=f"{origin}/v1", token="good")
for each in json.load(sys.stdin):
    try:
        results[each["id"]] = call(client, each["id"], each["sample"])
    except Exception as error:
        results[each["id"]] = f"{type(error).__name__}: {error}"
# The client parses date-times; Python's text of one in UTC is not JavaScript's.
text = json.dumps(results, default=lambda value: value.isoformat() if hasattr(value, "isoformat") else str(value))
sys.stdout.write(text.replace('+00:00"', '.000Z"'))
