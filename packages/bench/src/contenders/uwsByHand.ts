import { STATUS_CODES } from 'node:http';
import type { Animal, NewPet } from '@petstore/core';
import type * as Uws from '@uwsjs/core';
import type { HttpRequest, HttpResponse } from '@uwsjs/core';
import { Failure, malformed, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import type { ListInputs } from '../petStore/schemas.ts';
import { findPet, listPets, type PetPage, store } from '../petStore/store.ts';

// uWebSockets.js and nothing else, as anyone writes it: the key is compared with one string, a response has a content-type,
// and nothing is hashed, numbered, logged, limited or checked besides.

// The package of uWebSockets.js that the gateway prefers too, or else the older one.
const { App }: typeof Uws = await import('@uwsjs/core').catch(
  () => import('uWebSockets.js') as Promise<unknown> as Promise<typeof Uws>,
);

const authorization = `Bearer ${process.env['API_KEY']}`;

function send(res: HttpResponse, status: number, body: string): void {
  if (status !== 200) res.writeStatus(`${status} ${STATUS_CODES[status]}`);
  res.writeHeader('content-type', 'application/json').end(body);
}

const sendResult = (res: HttpResponse, result: unknown, status = 200) =>
  send(res, result instanceof Failure ? result.status : status, JSON.stringify(result));

// What is read is checked by hand, and what the store returns is not checked.

const statuses = new Set<unknown>(['available', 'pending', 'sold', undefined]);

const invalid = (message: string) => new Failure('BAD_REQUEST', 400, message);

function get(input: unknown): Animal | Failure {
  const { petId } = input as { petId: number };
  if (!Number.isInteger(petId)) return invalid('petId: must be an integer');
  return findPet(petId) ?? notFound;
}

function list(input: unknown): PetPage | Failure {
  const { limit = 20, cursor, status } = (input ?? {}) as Partial<ListInputs>;
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return invalid('limit: must be 1 to 100');
  if (cursor !== undefined && !Number.isInteger(cursor)) return invalid('cursor: must be an integer');
  if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
  return listPets({ limit, cursor, status });
}

function create(input: unknown): Failure | Promise<Animal> {
  const { name, categoryId, status } = (input ?? {}) as Partial<NewPet>;
  if (typeof name !== 'string' || name.length > 1000) return invalid('name: must be a string');
  if (!Number.isInteger(categoryId)) return invalid('categoryId: must be an integer');
  if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
  return store.create({ name, categoryId, status } as NewPet);
}

/** Reads a body, creates an animal of it, and sends that unless the client has gone. */
function receive(res: HttpResponse): void {
  let before: Buffer | undefined;
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  res.onData((chunk, isLast) => {
    const bytes = Buffer.from(chunk);
    if (!isLast) {
      // A copy: uWS takes the chunk back after this.
      before = Buffer.concat(before ? [before, bytes] : [bytes]);
      return;
    }
    let input: unknown;
    try {
      input = JSON.parse((before ? Buffer.concat([before, bytes]) : bytes).toString());
    } catch {
      sendResult(res, malformed);
      return;
    }
    void Promise.resolve(create(input)).then((pet) => {
      if (!isAborted) res.cork(() => sendResult(res, pet, 201));
    });
  });
}

/** Calls a handler once the credential is checked. */
const guarded =
  (handler: (res: HttpResponse, req: HttpRequest) => void) =>
  (res: HttpResponse, req: HttpRequest): void => {
    if (req.getHeader('authorization') === authorization) handler(res, req);
    else sendResult(res, unauthorized);
  };

// tRPC's wire format, as far as the cases go: no case is an error.

const query = (path: string, input: unknown) => (path === 'getPet' ? get(input) : nowhere);

/** The response to `GET /trpc/<path>?input=<input>`: one query, or several with `batch=1`. */
function queryBody(path: string, text: string | undefined, isBatched: boolean): string {
  const input: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isBatched) return JSON.stringify(envelope(query(path, input)));
  const inputs = input as Readonly<Record<string, unknown>>;
  return JSON.stringify(path.split(',').map((name, index) => envelope(query(name, inputs[index]))));
}

const envelope = (outcome: ReturnType<typeof query>) =>
  outcome instanceof Failure ? { error: outcome } : { result: { data: outcome } };

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));

const app = App()
  .get(
    '/v1/pets/:petId',
    guarded((res, req) => sendResult(res, get({ petId: number(req.getParameter(0)) }))),
  )
  .get(
    '/v1/pets',
    guarded((res, req) => {
      const page = list({
        limit: number(req.getQuery('limit')),
        status: req.getQuery('status'),
        cursor: number(req.getQuery('cursor')),
      });
      sendResult(res, page instanceof Failure ? page : page.records);
    }),
  )
  .post('/v1/pets', guarded(receive))
  .get(
    '/trpc/:path',
    guarded((res, req) => {
      const isBatched = req.getQuery('batch') === '1';
      send(res, 200, queryBody(req.getParameter(0) ?? '', req.getQuery('input'), isBatched));
    }),
  )
  .any(
    '/*',
    guarded((res) => sendResult(res, nowhere)),
  );

app.listen('127.0.0.1', Number(process.env['PORT']), (socket) => {
  if (!socket) throw new Error('The port is not available.');
});
