"""Calls the tools of `toolRouter.ts` with the official Python client, in the eras of MCP: `pythonClient.py URL`.

Prints one JSON object for each era. `pythonClient.ts` compares them.
"""

import asyncio
import json
import re
import sys

import httpx2
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client


async def call(client, name, arguments=None, **options):
    result = await client.call_tool(name, arguments or {}, **options)
    texts = [each.text for each in result.content if each.type == "text"]
    return {"text": texts, "structured": result.structured_content, "isError": bool(result.is_error)}


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
            return {
                "mode": mode,
                "version": client.protocol_version,
                "tools": sorted(tool.name for tool in (await client.list_tools()).tools),
                "added": await call(client, "books_add", {"id": 1, "title": "A"}),
                "declared": await call(client, "orders_order", {"quantity": 3}),
                "invalid": await call(client, "books_add", {"id": "one"}),
                "last": await call(client, "steps", {"count": 3}, progress_callback=on_progress),
                "steps": steps,
                "archives": [
                    await read_all(client, name) for name in ["books_archive", "books_archiveWithoutSchema"]
                ],
                "rejected": rejected,
            }


async def main(url):
    for mode in ["2026-07-28", "auto", "legacy"]:
        print(json.dumps(await outcomes(url, "reader", mode)))


asyncio.run(main(sys.argv[1]))
