import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { Animal, NewPet } from '@petstore/core';
import { unauthorized } from '../petStore/failure.ts';
import { store } from '../petStore/operations.ts';

// The server of the official MCP SDK on node:http, with one tool. It opens `MCP_SESSIONS` sessions at start. A request
// without a session has a server and a transport of its own, as in the README of @modelcontextprotocol/node. Responses
// are JSON: the default, a stream of events, costs more.

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
const sessionCount = Number(process.env['MCP_SESSIONS'] ?? 0);
const port = Number(process.env['PORT']);
const authorization = `Bearer ${process.env['API_KEY']}`;

async function connect(session?: string): Promise<NodeStreamableHTTPServerTransport> {
  const server = new McpServer({ name: 'petstore', version: '1.0.0' });
  server.registerTool(
    'createPet',
    { description: 'Adds an animal.', inputSchema: NewPet, outputSchema: Animal },
    async (input) => {
      const animal = await store.create(input);
      return { content: [{ type: 'text', text: JSON.stringify(animal) }], structuredContent: animal };
    },
  );
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: session === undefined ? undefined : () => session,
    enableJsonResponse: true,
  });
  await server.connect(transport);
  return transport;
}

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.headers.authorization !== authorization) {
    res.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(unauthorized));
  } else if (req.url === '/mcp') {
    const session = req.headers['mcp-session-id'];
    const transport = typeof session === 'string' ? sessions.get(session) : await connect();
    if (transport === undefined) res.writeHead(404).end();
    else await transport.handleRequest(req, res);
  } else if (req.url?.startsWith(openPath)) {
    const session = req.url.slice(openPath.length);
    const transport = await connect(session);
    sessions.set(session, transport);
    await transport.handleRequest(req, res);
  } else {
    // The bench waits for a list of animals, which is no case of this server.
    res.writeHead(sessions.size === sessionCount ? 200 : 503).end();
  }
}

/** Where this process opens its sessions: their ids are known to the load. */
const openPath = '/open/';

createServer((req, res) => void handle(req, res)).listen(port, '127.0.0.1', () => void openSessions());

/** Opens the sessions, as a client does before its first call. */
async function openSessions(): Promise<void> {
  const request = {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1.0.0' },
      },
    }),
  };
  for (let session = 0; session < sessionCount; session++) {
    const response = await fetch(`http://127.0.0.1:${port}${openPath}session-${session}`, request);
    if (response.status !== 200) throw new Error(await response.text());
  }
}
