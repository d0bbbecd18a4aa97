import type { Animal } from '@petstore/core';
import { seededAnimals } from './animals.ts';
import { Failure } from './failure.ts';
import { getPet, listPets } from './minimalOperations.ts';

// tRPC's wire format by hand, as far as the cases go.

type Outcome = Animal | Animal[] | Failure;

export interface RpcResponse {
  readonly status: number;
  readonly body: string;
}

function query(path: string, input: unknown): Outcome {
  if (path === 'getPet') return getPet(input);
  if (path !== 'listPets')
    return new Failure('NOT_FOUND', 404, `No procedure found on path "${path}"`, -32_004);
  const page = listPets(input);
  return page instanceof Failure ? page : page.records;
}

function queryAll(names: readonly string[], text: string | undefined): Outcome[] {
  const inputs = parsed(text) as Readonly<Record<string, unknown>>;
  return names.map((name, index) => query(name, inputs[index]));
}

/** Answers `GET /trpc/<path>?input=<input>`: one query, or several with `batch=1`. */
export function queryResponse(path: string, text: string | undefined, isBatched: boolean): RpcResponse {
  if (!isBatched) {
    const outcome = query(path, parsed(text));
    return { status: statusOf(outcome), body: JSON.stringify(envelope(path, outcome)) };
  }
  const names = path.split(',');
  const outcomes = queryAll(names, text);
  return {
    status: commonStatus(outcomes),
    body: JSON.stringify(outcomes.map((outcome, index) => envelope(names[index] ?? '', outcome))),
  };
}

/** Answers a batch of queries with JSON lines (`trpc-accept: application/jsonl`): a head, then each outcome in parts. */
export function queryLines(path: string, text: string | undefined): string {
  const outcomes = queryAll(path.split(','), text);
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

/** Answers one call that came as a WebSocket message. */
export function respondToMessage(message: string): string {
  const { id, params } = JSON.parse(message) as {
    readonly id: number;
    readonly params: { readonly path: string; readonly input: unknown };
  };
  const outcome = query(params.path, params.input);
  return JSON.stringify(
    outcome instanceof Failure
      ? { id, ...envelope(params.path, outcome) }
      : { id, result: { type: 'data', data: outcome } },
  );
}

const animals = seededAnimals();

/** The subscription of the case `events` as server-sent events. */
export function* petEvents(input: string | undefined): Generator<string, void> {
  const { count } = parsed(input) as { readonly count: number };
  yield 'event: connected\ndata: {}\n\n\n';
  for (const animal of animals.slice(0, count)) yield `data: ${JSON.stringify(animal)}\n\n\n`;
  yield 'event: return\ndata: \n\n\n';
}

function envelope(path: string, outcome: Outcome): object {
  if (!(outcome instanceof Failure)) return { result: { data: outcome } };
  const { message, rpcCode: code, code: name, status: httpStatus } = outcome;
  return { error: { message, code, data: { code: name, httpStatus, path } } };
}

const statusOf = (outcome: Outcome | undefined) => (outcome instanceof Failure ? outcome.status : 200);

function commonStatus(outcomes: readonly Outcome[]): number {
  const first = statusOf(outcomes[0]);
  return outcomes.every((outcome) => statusOf(outcome) === first) ? first : 207;
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
