import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from '../petStore/failure.ts';
import { minimalOperations } from '../petStore/minimalOperations.ts';
import { after, type MaybePromise } from '../petStore/resolvers.ts';
import { handwrittenRpc, inputOf, isBatch, petEvents, type RpcResponse } from '../petStore/rpc.ts';

// Node's own HTTP server and nothing else, as minimal as `minimal.ts`.

const { getPet, listPets, createPet } = minimalOperations;
const rpc = handwrittenRpc(minimalOperations);
const authorization = `Bearer ${process.env['API_KEY']}`;
const petPath = '/v1/pets/';
const rpcPath = '/trpc/';

function send(res: ServerResponse, status: number, body: string, type = 'application/json'): void {
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

const sendResult = (res: ServerResponse, result: unknown, status = 200) =>
  send(res, result instanceof Failure ? result.status : status, JSON.stringify(result));

const sendRpc = (res: ServerResponse, { status, body }: RpcResponse) => send(res, status, body);

/** Sends a result: at once, or when its promise is resolved. */
function when<Value>(result: MaybePromise<Value>, write: (value: Value) => void): void {
  void after(result, write);
}

function readBody(req: IncomingMessage, res: ServerResponse, use: (body: string) => void): void {
  let body = '';
  req
    .setEncoding('utf8')
    .on('data', (text: string) => (body += text))
    .on('end', () => {
      try {
        use(body);
      } catch {
        sendResult(res, malformed);
      }
    });
}

const number = (text: string | null) => (text === null ? undefined : Number(text));

function get(req: IncomingMessage, res: ServerResponse, path: string, query: string): void {
  if (path.startsWith(petPath)) {
    when(getPet({ petId: Number(path.slice(petPath.length)) }), (pet) => sendResult(res, pet));
  } else if (path === '/v1/pets') {
    const parameters = new URLSearchParams(query);
    const limit = number(parameters.get('limit'));
    const cursor = number(parameters.get('cursor'));
    when(listPets({ limit, cursor, status: parameters.get('status') ?? undefined }), (page) =>
      sendResult(res, page instanceof Failure ? page : page.records),
    );
  } else if (path === '/trpc/watchPets') {
    send(res, 200, [...petEvents(inputOf(query))].join(''), 'text/event-stream');
  } else if (!path.startsWith(rpcPath)) sendResult(res, nowhere);
  else if (req.headers['trpc-accept'] === 'application/jsonl') {
    when(rpc.queryLines(path.slice(rpcPath.length), inputOf(query)), (lines) => send(res, 200, lines));
  } else
    when(rpc.queryResponse(path.slice(rpcPath.length), inputOf(query), isBatch(query)), (response) =>
      sendRpc(res, response),
    );
}

function post(req: IncomingMessage, res: ServerResponse, path: string): void {
  if (path === '/v1/pets') {
    readBody(req, res, (body) => when(createPet(JSON.parse(body)), (pet) => sendResult(res, pet, 201)));
  } else if (path.startsWith(rpcPath)) {
    const name = path.slice(rpcPath.length);
    readBody(req, res, (body) =>
      when(rpc.mutationResponse(name, body), (received) => sendRpc(res, received)),
    );
  } else sendResult(res, nowhere);
}

createServer((req, res) => {
  const { method, url = '/', headers } = req;
  if (headers.authorization !== authorization) return sendResult(res, unauthorized);
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (method === 'GET') get(req, res, path, end === -1 ? '' : url.slice(end + 1));
  else if (method === 'POST') post(req, res, path);
  else sendResult(res, path.startsWith(petPath) ? methodNotSupported : nowhere);
}).listen(Number(process.env['PORT']), '127.0.0.1');
