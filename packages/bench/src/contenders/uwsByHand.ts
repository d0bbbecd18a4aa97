import { STATUS_CODES } from 'node:http';
import { createKeyVerifier } from '@petstore/core';
import type * as Uws from '@uwsjs/core';
import type { HttpRequest, HttpResponse } from '@uwsjs/core';
import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from '../petStore/failure.ts';
import { allow, challenge, deprecation, eventHeaders, requestId, rpcVary } from '../petStore/headers.ts';
import { minimalOperations } from '../petStore/minimalOperations.ts';
import { nextLink, operations, petStore } from '../petStore/operations.ts';
import type { MaybePromise } from '../petStore/resolvers.ts';
import { handwrittenRpc, petEvents, type RpcResponse } from '../petStore/rpc.ts';

// uWebSockets.js and nothing else, as anyone writes it.
//
// `minimal`, the limit: the key is compared with one string, a response has a content-type, and nothing is hashed, numbered,
// logged, limited or checked besides.
//
// `same response` (`BENCH_RESPONSE=same`): all the work of the gateway is repeated by hand: the same checks of the credential,
// of input and output, and the same response headers. The time it saves is the gateway's overhead.

const isSame = process.env['BENCH_RESPONSE'] === 'same';

// Read once, when the addon loads: a batch of 100 queries is longer than the 4,096 bytes it would take.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384';

// The package of uWebSockets.js that the gateway prefers too, or else the older one.
const { App }: typeof Uws = await import('@uwsjs/core').catch(
  () => import('uWebSockets.js') as Promise<unknown> as Promise<typeof Uws>,
);

const { getPet, listPets, createPet } = isSame ? operations : minimalOperations;
const rpc = handwrittenRpc(isSame ? operations : minimalOperations);

const authorization = `Bearer ${process.env['API_KEY']}`;
const verify = createKeyVerifier({ keys: petStore.keys, apiKey: process.env['API_KEY'] });
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** Checks a key: against one string, or as the pet store does, by its hash, among the stored keys and the one of the environment. */
function isAuthorized(header: string): boolean {
  if (!isSame) return header === authorization;
  const token = bearer.exec(header)?.[1];
  return token !== undefined && verify(token) !== undefined;
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Sends a response. `minimal` has no header besides the content-type. */
function send(res: HttpResponse, id: string, status: number, body: string, headers: Headers = []): void {
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status]}`);
  res.writeHeader('content-type', 'application/json');
  if (isSame) {
    res.writeHeader('x-content-type-options', 'nosniff').writeHeader('cache-control', 'no-store');
    res.writeHeader('x-request-id', id);
    for (const [name, value] of headers) res.writeHeader(name, value);
  }
  res.end(body);
}

const sendResult = (res: HttpResponse, id: string, result: unknown, headers: Headers = []) =>
  send(res, id, result instanceof Failure ? result.status : 200, JSON.stringify(result), headers);

const vary: Headers = [['vary', rpcVary]];
const queryOnly: Headers = [...vary, ['allow', 'GET']];

const sendRpc = (res: HttpResponse, id: string, { status, body }: RpcResponse) =>
  send(res, id, status, body, status === 405 ? queryOnly : vary);

/** Writes a result: at once, or when its promise is resolved, unless the client has gone. */
function when<Value>(res: HttpResponse, result: MaybePromise<Value>, write: (value: Value) => void): void {
  if (!(result instanceof Promise)) return write(result);
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  void result.then((value) => {
    if (!isAborted) res.cork(() => write(value));
  });
}

function readBody(res: HttpResponse, id: string, use: (body: string) => void): void {
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
      sendResult(res, id, malformed);
    }
  });
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

const unauthorizedHeaders: Headers = [['www-authenticate', challenge]];

/** Calls a handler with the request's id once its credential is checked. */
const guarded =
  (handler: (res: HttpResponse, req: HttpRequest, id: string) => void) =>
  (res: HttpResponse, req: HttpRequest): void => {
    const id = isSame ? requestId(req.getHeader('x-request-id')) : '';
    if (isAuthorized(req.getHeader('authorization'))) handler(res, req, id);
    else sendResult(res, id, unauthorized, unauthorizedHeaders);
  };

/** An integer: as strictly as the gateway reads one, which leaves what is none to the schema, or as `Number` does. */
const integer = (text: string | undefined) =>
  text === undefined || (isSame && !/^-?\d+$/.test(text)) ? text : Number(text);

/** A closed socket throws at every call. */
const closed = new WeakSet<object>();

const app = App()
  .get(
    '/v1/pets/:petId',
    guarded((res, req, id) =>
      when(res, getPet({ petId: integer(req.getParameter(0)) }), (pet) =>
        sendResult(res, id, pet, deprecation),
      ),
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
      when(res, listPets(query), (page) => {
        if (page instanceof Failure) return sendResult(res, id, page);
        const link = isSame ? nextLink(query, page) : undefined;
        sendResult(res, id, page.records, link === undefined ? [] : [['link', link]]);
      });
    }),
  )
  .post(
    '/v1/pets',
    guarded((res, _req, id) =>
      readBody(res, id, (body) =>
        when(res, createPet(JSON.parse(body)), (pet) => {
          if (pet instanceof Failure) return sendResult(res, id, pet);
          send(res, id, 201, JSON.stringify(pet), isSame ? [['location', `/v1/pets/${pet.id}`]] : []);
        }),
      ),
    ),
  )
  .get(
    '/trpc/watchPets',
    guarded((res, req, id) => {
      const texts = petEvents(req.getQuery('input'));
      if (isSame) {
        for (const [name, value] of eventHeaders) res.writeHeader(name, value);
        res.writeHeader('x-request-id', id);
        stream(res, texts);
      } else res.writeHeader('content-type', 'text/event-stream').end([...texts].join(''));
    }),
  )
  .get(
    '/trpc/:path',
    guarded((res, req, id) => {
      const path = req.getParameter(0) ?? '';
      const input = req.getQuery('input');
      if (req.getHeader('trpc-accept') === 'application/jsonl')
        when(res, rpc.queryLines(path, input), (body) => sendRpc(res, id, { status: 200, body }));
      else {
        const isBatch = req.getQuery('batch') === '1';
        when(res, rpc.queryResponse(path, input, isBatch), (response) => sendRpc(res, id, response));
      }
    }),
  )
  .post(
    '/trpc/:path',
    guarded((res, req, id) => {
      const path = req.getParameter(0) ?? '';
      readBody(res, id, (body) =>
        when(res, rpc.mutationResponse(path, body), (response) => sendRpc(res, id, response)),
      );
    }),
  )
  .ws('/trpc', {
    upgrade: (res, req, context) => {
      if (!isAuthorized(req.getHeader('authorization')))
        return sendResult(res, requestId(undefined), unauthorized, unauthorizedHeaders);
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
        req.getHeader(`sec-websocket-${name}`),
      );
      res.upgrade({}, key ?? '', protocol ?? '', extensions ?? '', context);
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
    guarded((res, _req, id) => sendResult(res, id, methodNotSupported, [['allow', allow]])),
  )
  .any(
    '/*',
    guarded((res, _req, id) => sendResult(res, id, nowhere)),
  );

app.listen('127.0.0.1', Number(process.env['PORT']), (socket) => {
  if (!socket) throw new Error('The port is not available.');
});
