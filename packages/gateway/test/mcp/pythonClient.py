"""Calls the tools of `toolRouter.ts` with the official Python client, in each revision that it knows: `pythonClient.py URL`.

Prints a line for each, and exits with 1 if one differs.
"""

import asyncio
import json
import re
import sys

import httpx2
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

# The modes of the client, and the revision of each.
VERSIONS = {"2026-07-28": "2026-07-28", "auto": "2026-07-28", "legacy": "2025-11-25"}

# What the client receives in each mode.
EXPECTED = {
    "listed": ["books_add"],
    "added": {"id": 1, "title": "A"},
    "declared": {"code": "OUT_OF_STOCK", "status": 409, "data": {"left": 2}},
    "invalid": {"code": "BAD_REQUEST", "status": 400},
    "last": ['{"step":3}'],
    "steps": [[step, f'{{"step":{step}}}'] for step in [1, 2, 3]],
    "archives": [True, True],
    "rejected": "The token does not have the required scope books:secret.",
}


async def call(client, name, arguments=None, **options):
    result = await client.call_tool(name, arguments or {}, **options)
    texts = [each.text for each in result.content if each.type == "text"]
    return {"text": texts, "structured": result.structured_content, "isError": bool(result.is_error)}


def error_of(result):
    """Returns the error of a failed call, which its text has as JSON, without its message."""
    if not result["isError"]:
        return None
    error = json.loads(result["text"][0])
    del error["message"]
    return error


async def read_all(client, name):
    """Reads the pages of a list that is too large for one result, and says whether both copies have the same."""
    ids, arguments, same = [], {}, True
    while True:
        result = await call(client, name, arguments)
        output, *cut = result["text"]
        page = json.loads(output)
        same = same and result["structured"] in (None, {**page, **({"cut": cut[0]} if cut else {})})
        if cut:
            arguments = {**arguments, "limit": int(re.search(r"limit: (\d+)", cut[0])[1])}
            continue
        ids += [book["id"] for book in page["books"]]
        if "next" not in page:
            return same and ids == list(range(3000))
        arguments = {**arguments, "cursor": page["next"]}


async def outcomes(url, token, mode):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            steps = []

            async def on_progress(progress, total, message):
                steps.append([progress, message])

            try:
                await call(client, "books_secret")
                rejected = None
            except MCPError as error:
                rejected = str(error)
            names = [tool.name for tool in (await client.list_tools()).tools]
            last = await call(client, "steps", {"count": 3}, progress_callback=on_progress)
            return {
                "version": client.protocol_version,
                "listed": [name for name in names if name in ("books_add", "books_secret")],
                "added": (await call(client, "books_add", {"id": 1, "title": "A"}))["structured"],
                "declared": error_of(await call(client, "orders_order", {"quantity": 3})),
                "invalid": error_of(await call(client, "books_add", {"id": "one"})),
                "last": last["text"],
                "steps": steps,
                "archives": [
                    await read_all(client, name) for name in ["books_archive", "books_archiveWithoutSchema"]
                ],
                "rejected": rejected,
            }


async def main(url):
    differs = False
    for mode, version in VERSIONS.items():
        actual = await outcomes(url, "reader", mode)
        is_right = actual == {**EXPECTED, "version": version}
        differs = differs or not is_right
        print(f"{mode} | {version} | {'ok' if is_right else json.dumps(actual)}")
    sys.exit(differs)


asyncio.run(main(sys.argv[1]))
