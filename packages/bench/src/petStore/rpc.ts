import type { Animal } from '@petstore/core';
import { seededAnimals } from './animals.ts';
import { Failure, nowhere } from './failure.ts';
import { createPet, getPet, listPets } from './operations.ts';

// tRPC's wire by hand, as far as the cases go, for contenders that have no adapter.

type Outcome = Animal | Animal[] | Failure;

/** Runs a procedure. The mutation alone gives a promise. */
function call(path: string, input: unknown): Outcome | Promise<Outcome> {
  if (path === 'getPet') return getPet(input);
  if (path === 'createPet') return createPet(input);
  if (path !== 'listPets') return nowhere;
  const page = listPets(input);
  return page instanceof Failure ? page : page.animals;
}

/** The envelope of one outcome. */
function envelope(path: string, outcome: Outcome): string {
  if (!(outcome instanceof Failure)) return `{"result":{"data":${JSON.stringify(outcome)}}}`;
  const { message, rpcCode: code, code: name, status: httpStatus } = outcome;
  return JSON.stringify({ error: { message, code, data: { code: name, httpStatus, path } } });
}

export interface RpcAnswer {
  readonly status: number;
  readonly body: string;
}

/** Answers `GET /trpc/<path>`: one query, or with `batch=1` several, all at hand at once. */
export function answerQuery(path: string, query: string): RpcAnswer {
  const input = inputOf(query);
  if (!isBatch(query)) {
    const outcome = queried(path, input);
    return { status: statusOf(outcome), body: envelope(path, outcome) };
  }
  const outcomes = batch(path, input);
  const statuses = new Set(outcomes.map(({ outcome }) => statusOf(outcome)));
  const [status = 200] = statuses;
  return {
    status: statuses.size > 1 ? 207 : status,
    body: `[${outcomes.map(({ name, outcome }) => envelope(name, outcome)).join(',')}]`,
  };
}

/** Answers `POST /trpc/<path>` with one mutation. */
export async function answerMutation(path: string, body: string): Promise<RpcAnswer> {
  const outcome = await call(path, JSON.parse(body));
  return { status: statusOf(outcome), body: envelope(path, outcome) };
}

/** A batch of queries as JSON lines (`trpc-accept: application/jsonl`): a head, then each outcome in parts. */
export function* queryLines(path: string, query: string): Generator<string, void> {
  const outcomes = batch(path, inputOf(query));
  const { length } = outcomes;
  yield `{${outcomes.map((_, index) => `"${index}":[[0],[null,0,${index}]]`).join(',')}}\n`;
  for (let index = 0; index < length; index++) {
    yield `[${index},0,[[{"result":0}],["result",0,${length + index}]]]\n`;
  }
  for (let index = length; index < 2 * length; index++) {
    yield `[${index},0,[[{"data":0}],["data",0,${length + index}]]]\n`;
  }
  for (const [index, { outcome }] of outcomes.entries()) {
    yield `[${2 * length + index},0,[[${JSON.stringify(outcome)}]]]\n`;
  }
}

const animals = seededAnimals();

/** The subscription of the streamed case as server-sent events. */
export function* petEvents(query: string): Generator<string, void> {
  const { count } = inputOf(query) as { readonly count: number };
  yield 'event: connected\ndata: {}\n\n\n';
  for (const animal of animals.slice(0, count)) yield `data: ${JSON.stringify(animal)}\n\n\n`;
  yield 'event: return\ndata: \n\n\n';
}

/** Answers one call that came as a WebSocket's message; a mutation alone gives a promise. */
export function answerMessage(message: string): string | Promise<string> {
  const { id, params } = JSON.parse(message) as {
    readonly id: number;
    readonly params: { readonly path: string; readonly input: unknown };
  };
  const write = (outcome: Outcome) =>
    outcome instanceof Failure
      ? `{"id":${id},${envelope(params.path, outcome).slice(1)}`
      : `{"id":${id},"result":{"type":"data","data":${JSON.stringify(outcome)}}}`;
  const outcome = call(params.path, params.input);
  return outcome instanceof Promise ? outcome.then(write) : write(outcome);
}

interface NamedOutcome {
  readonly name: string;
  readonly outcome: Outcome;
}

function batch(path: string, inputs: unknown): NamedOutcome[] {
  return path.split(',').map((name, index) => ({
    name,
    outcome: queried(name, (inputs as Readonly<Record<string, unknown>>)[index]),
  }));
}

function queried(path: string, input: unknown): Outcome {
  const outcome = call(path, input);
  return outcome instanceof Promise ? nowhere : outcome;
}

const statusOf = (outcome: Outcome) => (outcome instanceof Failure ? outcome.status : 200);
const isBatch = (query: string) => query.startsWith('batch=1&');

/** The query's `input`, which comes last. */
function inputOf(query: string): unknown {
  const at = query.indexOf('input=');
  return at === -1 ? undefined : JSON.parse(decodeURIComponent(query.slice(at + 6)));
}
