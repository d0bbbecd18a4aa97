import type { Animal, Page } from '@petstore/core';
import { seededAnimals } from './animals.ts';
import { Failure } from './failure.ts';
import { after, type MaybePromise } from './resolvers.ts';

// tRPC's wire format by hand, as far as the cases go, for contenders that have no adapter.

export type PetPage = Page<Animal>;

type Outcome = Animal | Animal[] | Failure;

/** The pet store's operations. Each validates its own input. */
export interface Operations {
  readonly getPet: (input: unknown) => MaybePromise<Animal | Failure>;
  readonly listPets: (input: unknown) => MaybePromise<PetPage | Failure>;
  readonly createPet: (input: unknown) => MaybePromise<Animal | Failure>;
}

export interface RpcResponse {
  readonly status: number;
  readonly body: string;
}

export function handwrittenRpc({ getPet, listPets, createPet }: Operations) {
  const listed = (page: PetPage | Failure) => (page instanceof Failure ? page : page.records);

  function query(path: string, input: unknown): MaybePromise<Outcome> {
    if (path === 'getPet') return getPet(input);
    if (path === 'listPets') return after(listPets(input), listed);
    return new Failure('NOT_FOUND', 404, `No procedure found on path "${path}"`, -32_004);
  }

  function mutate(path: string, input: unknown): MaybePromise<Outcome> {
    if (path === 'createPet') return createPet(input);
    const message = `Unsupported POST-request to query procedure at path "${path}"`;
    return new Failure('METHOD_NOT_SUPPORTED', 405, message, -32_005);
  }

  function queryAll(names: readonly string[], text: string | undefined): MaybePromise<Outcome[]> {
    const inputs = parsed(text) as Readonly<Record<string, unknown>>;
    const outcomes = names.map((name, index) => query(name, inputs[index]));
    return outcomes.some((outcome) => outcome instanceof Promise)
      ? Promise.all(outcomes as Promise<Outcome>[])
      : (outcomes as Outcome[]);
  }

  return {
    /** Answers `GET /trpc/<path>?input=<input>`: one query, or several with `batch=1`. */
    queryResponse(path: string, text: string | undefined, isBatched: boolean): MaybePromise<RpcResponse> {
      if (!isBatched) {
        return after(query(path, parsed(text)), (outcome) => single(path, outcome));
      }
      const names = path.split(',');
      return after(queryAll(names, text), (outcomes) => ({
        status: commonStatus(outcomes),
        body: JSON.stringify(outcomes.map((outcome, index) => envelope(names[index] ?? '', outcome))),
      }));
    },
    /** Answers `POST /trpc/<path>` with one mutation. */
    mutationResponse: (path: string, body: string): MaybePromise<RpcResponse> =>
      after(mutate(path, JSON.parse(body)), (outcome) => single(path, outcome)),
    /** Answers a batch of queries with JSON lines (`trpc-accept: application/jsonl`): a head, then each outcome in parts. */
    queryLines: (path: string, text: string | undefined): MaybePromise<string> =>
      after(queryAll(path.split(','), text), lines),
    /** Answers one call that came as a WebSocket message. */
    respondToMessage(message: string): MaybePromise<string> {
      const { id, params } = JSON.parse(message) as {
        readonly id: number;
        readonly params: { readonly path: string; readonly input: unknown };
      };
      return after(query(params.path, params.input), (outcome) =>
        JSON.stringify(
          outcome instanceof Failure
            ? { id, ...envelope(params.path, outcome) }
            : { id, result: { type: 'data', data: outcome } },
        ),
      );
    },
  };
}

const animals = seededAnimals();

/** The subscription of the case `events` as server-sent events. */
export function* petEvents(input: string | undefined): Generator<string, void> {
  const { count } = parsed(input) as { readonly count: number };
  yield 'event: connected\ndata: {}\n\n\n';
  for (const animal of animals.slice(0, count)) yield `data: ${JSON.stringify(animal)}\n\n\n`;
  yield 'event: return\ndata: \n\n\n';
}

const single = (path: string, outcome: Outcome): RpcResponse => ({
  status: statusOf(outcome),
  body: JSON.stringify(envelope(path, outcome)),
});

function envelope(path: string, outcome: Outcome): object {
  if (!(outcome instanceof Failure)) return { result: { data: outcome } };
  const { message, rpcCode: code, code: name, status: httpStatus } = outcome;
  return { error: { message, code, data: { code: name, httpStatus, path } } };
}

function lines(outcomes: readonly Outcome[]): string {
  const { length } = outcomes;
  let head = '';
  let results = '';
  let data = '';
  let values = '';
  for (let index = 0; index < length; index++) {
    head += `${index === 0 ? '{' : ','}"${index}":[[0],[null,0,${index}]]`;
    results += `[${index},0,[[{"result":0}],["result",0,${length + index}]]]\n`;
    data += `[${length + index},0,[[{"data":0}],["data",0,${2 * length + index}]]]\n`;
    values += `[${2 * length + index},0,[[${JSON.stringify(outcomes[index])}]]]\n`;
  }
  return `${head}}\n${results}${data}${values}`;
}

const statusOf = (outcome: Outcome | undefined) => (outcome instanceof Failure ? outcome.status : 200);

function commonStatus(outcomes: readonly Outcome[]): number {
  const first = statusOf(outcomes[0]);
  return outcomes.every((outcome) => statusOf(outcome) === first) ? first : 207;
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** The `input` of a query string, in which it comes last. */
export function inputOf(query: string): string | undefined {
  const at = query.indexOf('input=');
  return at === -1 ? undefined : decodeURIComponent(query.slice(at + 6));
}

export const isBatch = (query: string): boolean => query.startsWith('batch=1&');
