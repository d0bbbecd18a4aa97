import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Failure, malformed, nowhere, unauthorized } from '../petStore/failure.ts';
import {
  challenge,
  deprecationByName,
  eventHeaders,
  nosniff,
  noStore,
  requestId,
  rpcVary,
} from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { createPet, getPet, listPets, nextLink } from '../petStore/operations.ts';
import { answerMutation, answerQuery, petEvents, queryLines } from '../petStore/rpc.ts';

// Node's own HTTP server and nothing else, written by hand for this service.

const json = 'application/json';
const petPath = '/v1/pets/';
const rpcPath = '/trpc/';

const safe = { 'content-type': json, 'x-content-type-options': nosniff, 'cache-control': noStore };

function send(
  res: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string | string[]>>,
): void {
  res.writeHead(status, { ...safe, ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

function fail(res: ServerResponse, failure: Failure, id: string): void {
  send(res, failure.status, JSON.stringify(failure), {
    'x-request-id': id,
    ...(failure === unauthorized && { 'www-authenticate': challenge }),
  });
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function stream(res: ServerResponse, texts: Generator<string, void>): void {
  const more = () => {
    for (let next = texts.next(); !next.done; next = texts.next()) {
      if (res.write(next.value)) continue;
      res.once('drain', more);
      return;
    }
    res.end();
  };
  more();
}

/** An integer as strictly as the gateway reads one; what is none is left to the schema. */
const integer = (text: string | null) =>
  text === null ? undefined : /^-?\d+$/.test(text) ? Number(text) : text;

function get(req: IncomingMessage, res: ServerResponse, path: string, query: string, id: string): void {
  if (path.startsWith(petPath)) {
    const animal = getPet({ petId: integer(path.slice(petPath.length)) });
    send(res, animal instanceof Failure ? animal.status : 200, JSON.stringify(animal), {
      'x-request-id': id,
      ...deprecationByName,
    });
  } else if (path === '/v1/pets') {
    const parameters = new URLSearchParams(query);
    const input = {
      limit: integer(parameters.get('limit')),
      status: parameters.get('status') ?? undefined,
      cursor: integer(parameters.get('cursor')),
    };
    const page = listPets(input);
    if (page instanceof Failure) return fail(res, page, id);
    const link = nextLink(input, page);
    send(res, 200, JSON.stringify(page.animals), { 'x-request-id': id, ...(link !== undefined && { link }) });
  } else if (path === '/trpc/watchPets') {
    stream(res.writeHead(200, { ...Object.fromEntries(eventHeaders), 'x-request-id': id }), petEvents(query));
  } else if (path.startsWith(rpcPath)) {
    const procedure = path.slice(rpcPath.length);
    if (req.headers['trpc-accept'] === 'application/jsonl') {
      const headers = { ...safe, vary: rpcVary, 'x-request-id': id };
      return stream(res.writeHead(200, headers), queryLines(procedure, query));
    }
    const { status, body } = answerQuery(procedure, query);
    send(res, status, body, { vary: rpcVary, 'x-request-id': id });
  } else fail(res, nowhere, id);
}

async function post(req: IncomingMessage, res: ServerResponse, path: string, id: string): Promise<void> {
  const text = await textOf(req);
  if (path === '/v1/pets') {
    const animal = await createPet(JSON.parse(text));
    if (animal instanceof Failure) return fail(res, animal, id);
    send(res, 201, JSON.stringify(animal), { 'x-request-id': id, location: `${petPath}${animal.id}` });
  } else if (path.startsWith(rpcPath)) {
    const { status, body } = await answerMutation(path.slice(rpcPath.length), text);
    send(res, status, body, { vary: rpcVary, 'x-request-id': id });
  } else fail(res, nowhere, id);
}

createServer((req, res) => {
  const { method, url = '/', headers } = req;
  const id = requestId(headers['x-request-id'] as string | undefined);
  if (!isAuthorized(headers.authorization)) return fail(res, unauthorized, id);
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (method === 'GET') get(req, res, path, end === -1 ? '' : url.slice(end + 1), id);
  else if (method === 'POST') post(req, res, path, id).catch(() => fail(res, malformed, id));
  else fail(res, nowhere, id);
}).listen(Number(process.env['PORT']), '127.0.0.1');
