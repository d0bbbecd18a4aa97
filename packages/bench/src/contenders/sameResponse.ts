import type { HttpRequest, HttpResponse } from '@uwsjs/core';
import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from '../petStore/failure.ts';
import {
  challenge,
  deprecation,
  eventHeaders,
  nosniff,
  noStore,
  requestId,
  rpcVary,
} from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { nextLink, operations } from '../petStore/operations.ts';
import { handwrittenRpc, petEvents, type RpcResponse } from '../petStore/rpc.ts';
import { App } from './loadUws.ts';
import { writeSettled } from './writeSettled.ts';

// uWebSockets.js and nothing else, with all the work of the gateway repeated by hand: the same checks of the credential, of
// input and output, and the same response headers. The time it saves is the gateway's overhead.

const reasons: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  207: '207 Multi-Status',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
};

const { getPet, listPets, createPet } = operations;
const rpc = handwrittenRpc(operations);

function head(res: HttpResponse, status: number, id: string): void {
  res
    .writeStatus(reasons[status] ?? String(status))
    .writeHeader('content-type', 'application/json')
    .writeHeader('x-content-type-options', nosniff)
    .writeHeader('cache-control', noStore)
    .writeHeader('x-request-id', id);
}

function sendError(res: HttpResponse, error: Failure, id: string): void {
  head(res, error.status, id);
  if (error === unauthorized) res.writeHeader('www-authenticate', challenge);
  res.end(JSON.stringify(error));
}

/** Calls a handler with the request's id once its credential is checked. */
const guarded =
  (handler: (res: HttpResponse, req: HttpRequest, id: string) => void) =>
  (res: HttpResponse, req: HttpRequest): void => {
    const id = requestId(req.getHeader('x-request-id'));
    if (isAuthorized(req.getHeader('authorization'))) handler(res, req, id);
    else sendError(res, unauthorized, id);
  };

function readBody(res: HttpResponse, id: string, use: (body: string) => void): void {
  const chunks: Buffer[] = [];
  res.onAborted(() => {});
  res.onData((chunk, isLast) => {
    // uWS takes the chunk back after this.
    chunks.push(Buffer.from(Buffer.from(chunk)));
    if (!isLast) return;
    try {
      use(Buffer.concat(chunks).toString());
    } catch {
      sendError(res, malformed, id);
    }
  });
}

function sendRpc(res: HttpResponse, { status, body }: RpcResponse, id: string): void {
  head(res, status, id);
  if (status === 405) res.writeHeader('allow', 'GET');
  res.writeHeader('vary', rpcVary).end(body);
}

/** How much is written at once of what is at hand: the size of uWebSockets.js's own buffer. */
const writeLength = 16_384;

/** Streams texts: chunks that are ready go out together, and writing waits while the socket is full (backpressure). */
function stream(res: HttpResponse, texts: Generator<string, void>): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
    texts.return();
  });
  const more = () => {
    for (;;) {
      let text = '';
      let next = texts.next();
      // Not `for … of`, which ends a generator that it leaves.
      while (!next.done) {
        text += next.value;
        if (text.length >= writeLength) break;
        next = texts.next();
      }
      if (next.done) return void res.end(text);
      if (!res.write(text)) return undefined;
    }
  };
  res.onWritable(() => {
    if (!isGone) res.cork(more);
    return true;
  });
  more();
}

/** An integer as strictly as the gateway reads one; what is none is left to the schema. */
const integer = (text: string | undefined) =>
  text !== undefined && /^-?\d+$/.test(text) ? Number(text) : text;

/** A closed socket throws at every call. */
const closed = new WeakSet<object>();

const app = App()
  .get(
    '/v1/pets/:petId',
    guarded((res, req, id) =>
      writeSettled(res, getPet({ petId: integer(req.getParameter(0)) }), (animal) => {
        head(res, animal instanceof Failure ? animal.status : 200, id);
        for (const [name, value] of deprecation) res.writeHeader(name, value);
        res.end(JSON.stringify(animal));
      }),
    ),
  )
  .get(
    '/v1/pets',
    guarded((res, req, id) => {
      const query = {
        limit: integer(req.getQuery('limit')),
        status: req.getQuery('status'),
        cursor: integer(req.getQuery('cursor')),
      };
      writeSettled(res, listPets(query), (page) => {
        if (page instanceof Failure) return sendError(res, page, id);
        head(res, 200, id);
        const link = nextLink(query, page);
        if (link !== undefined) res.writeHeader('link', link);
        res.end(JSON.stringify(page.records));
      });
    }),
  )
  .post(
    '/v1/pets',
    guarded((res, _req, id) =>
      readBody(res, id, (body) =>
        writeSettled(res, createPet(JSON.parse(body)), (animal) => {
          if (animal instanceof Failure) return sendError(res, animal, id);
          head(res, 201, id);
          res.writeHeader('location', `/v1/pets/${animal.id}`).end(JSON.stringify(animal));
        }),
      ),
    ),
  )
  .get(
    '/trpc/watchPets',
    guarded((res, req, id) => {
      const texts = petEvents(req.getQuery('input'));
      res.writeStatus('200 OK');
      for (const [name, value] of eventHeaders) res.writeHeader(name, value);
      res.writeHeader('x-request-id', id);
      stream(res, texts);
    }),
  )
  .get(
    '/trpc/*',
    guarded((res, req, id) => {
      const path = req.getUrl().slice('/trpc/'.length);
      if (req.getHeader('trpc-accept') === 'application/jsonl')
        writeSettled(res, rpc.queryLines(path, req.getQuery('input')), (body) =>
          sendRpc(res, { status: 200, body }, id),
        );
      else
        writeSettled(
          res,
          rpc.queryResponse(path, req.getQuery('input'), req.getQuery('batch') === '1'),
          (response) => sendRpc(res, response, id),
        );
    }),
  )
  .post(
    '/trpc/*',
    guarded((res, req, id) => {
      const path = req.getUrl().slice('/trpc/'.length);
      readBody(res, id, (body) =>
        writeSettled(res, rpc.mutationResponse(path, body), (received) => sendRpc(res, received, id)),
      );
    }),
  )
  .ws('/trpc', {
    upgrade: (res, req, context) => {
      if (!isAuthorized(req.getHeader('authorization')))
        return sendError(res, unauthorized, requestId(undefined));
      res.upgrade(
        {},
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    close: (socket) => closed.add(socket),
    message: (socket, message) => {
      const response = rpc.respondToMessage(Buffer.from(message).toString());
      if (typeof response === 'string') socket.send(response);
      else {
        void response.then((text) => {
          if (!closed.has(socket)) socket.send(text);
        });
      }
    },
  })
  .any(
    '/v1/pets/:petId',
    guarded((res, _req, id) => {
      head(res, methodNotSupported.status, id);
      res.writeHeader('allow', 'GET, HEAD, OPTIONS').end(JSON.stringify(methodNotSupported));
    }),
  )
  .any('/*', (res, req) => sendError(res, nowhere, requestId(req.getHeader('x-request-id'))));

app.listen('127.0.0.1', Number(process.env['PORT']), (socket) => {
  if (!socket) throw new Error('The port is not available.');
});
