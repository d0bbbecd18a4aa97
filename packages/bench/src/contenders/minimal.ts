import { STATUS_CODES } from 'node:http';
import type { HttpRequest, HttpResponse } from '@uwsjs/core';
import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from '../petStore/failure.ts';
import { minimalOperations } from '../petStore/minimalOperations.ts';
import { handwrittenRpc, petEvents, type RpcResponse } from '../petStore/rpc.ts';
import { App } from './loadUws.ts';
import { writeSettled } from './writeSettled.ts';

// The limit: uWebSockets.js and nothing else, as anyone writes it. The key is compared with one string, a response has a
// content-type, and nothing is hashed, numbered, logged, limited or checked besides.

const { getPet, listPets, createPet } = minimalOperations;
const rpc = handwrittenRpc(minimalOperations);
const authorization = `Bearer ${process.env['API_KEY']}`;

function send(res: HttpResponse, status: number, body: string, type = 'application/json'): void {
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status]}`);
  res.writeHeader('content-type', type).end(body);
}

const sendResult = (res: HttpResponse, result: unknown, status = 200) =>
  send(res, result instanceof Failure ? result.status : status, JSON.stringify(result));

const sendRpc = (res: HttpResponse, { status, body }: RpcResponse) => send(res, status, body);

function readBody(res: HttpResponse, use: (body: string) => void): void {
  let before: Buffer | undefined;
  res.onAborted(() => {});
  res.onData((chunk, isLast) => {
    const bytes = Buffer.from(chunk);
    if (!isLast) {
      // A copy: uWS takes the chunk back after this.
      before = Buffer.concat(before ? [before, bytes] : [bytes]);
      return;
    }
    try {
      use((before ? Buffer.concat([before, bytes]) : bytes).toString());
    } catch {
      sendResult(res, malformed);
    }
  });
}

const guarded =
  (handler: (res: HttpResponse, req: HttpRequest) => void) => (res: HttpResponse, req: HttpRequest) =>
    req.getHeader('authorization') === authorization ? handler(res, req) : sendResult(res, unauthorized);

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const app = App()
  .get(
    '/v1/pets/:petId',
    guarded((res, req) => {
      writeSettled(res, getPet({ petId: Number(req.getParameter(0)) }), (pet) => sendResult(res, pet));
    }),
  )
  .get(
    '/v1/pets',
    guarded((res, req) => {
      const limit = number(req.getQuery('limit'));
      const cursor = number(req.getQuery('cursor'));
      writeSettled(res, listPets({ limit, cursor, status: req.getQuery('status') }), (page) =>
        sendResult(res, page instanceof Failure ? page : page.records),
      );
    }),
  )
  .post(
    '/v1/pets',
    guarded((res) =>
      readBody(res, (body) =>
        writeSettled(res, createPet(JSON.parse(body)), (pet) => sendResult(res, pet, 201)),
      ),
    ),
  )
  .get(
    '/trpc/watchPets',
    guarded((res, req) =>
      send(res, 200, [...petEvents(req.getQuery('input'))].join(''), 'text/event-stream'),
    ),
  )
  .get(
    '/trpc/:path',
    guarded((res, req) => {
      const path = req.getParameter(0) ?? '';
      if (req.getHeader('trpc-accept') === 'application/jsonl')
        writeSettled(res, rpc.queryLines(path, req.getQuery('input')), (lines) => send(res, 200, lines));
      else
        writeSettled(
          res,
          rpc.queryResponse(path, req.getQuery('input'), req.getQuery('batch') === '1'),
          (response) => sendRpc(res, response),
        );
    }),
  )
  .post(
    '/trpc/:path',
    guarded((res, req) => {
      const path = req.getParameter(0) ?? '';
      readBody(res, (body) =>
        writeSettled(res, rpc.mutationResponse(path, body), (received) => sendRpc(res, received)),
      );
    }),
  )
  .ws('/trpc', {
    upgrade: (res, req, context) => {
      if (req.getHeader('authorization') !== authorization) return sendResult(res, unauthorized);
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
        req.getHeader(`sec-websocket-${name}`),
      );
      res.upgrade({}, key ?? '', protocol ?? '', extensions ?? '', context);
    },
    message: (socket, message) => {
      const response = rpc.respondToMessage(Buffer.from(message).toString());
      if (typeof response === 'string') socket.send(response);
      else void response.then((text) => socket.send(text)).catch(() => {});
    },
  })
  .any(
    '/v1/pets/:petId',
    guarded((res) => sendResult(res, methodNotSupported)),
  )
  .any(
    '/*',
    guarded((res) => sendResult(res, nowhere)),
  );

app.listen('127.0.0.1', Number(process.env['PORT']), (socket) => {
  if (!socket) throw new Error('The port is not available.');
});
