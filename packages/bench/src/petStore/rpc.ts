import type { Animal } from '@petstore/core';
import { Failure, nowhere } from './failure.ts';
import { getPet } from './minimalOperations.ts';

// tRPC's wire format by hand, as far as the cases go: no case is an error.

const query = (path: string, input: unknown): Animal | Failure =>
  path === 'getPet' ? getPet(input) : nowhere;

function queryAll(path: string, text: string | undefined): (Animal | Failure)[] {
  const inputs = parsed(text) as Readonly<Record<string, unknown>>;
  return path.split(',').map((name, index) => query(name, inputs[index]));
}

/** The response to `GET /trpc/<path>?input=<input>`: one query, or several with `batch=1`. */
export const queryBody = (path: string, text: string | undefined, isBatched: boolean): string =>
  JSON.stringify(isBatched ? queryAll(path, text).map(envelope) : envelope(query(path, parsed(text))));

/** The response to a batch of queries with JSON lines (`trpc-accept: application/jsonl`): a head, then each outcome in parts. */
export function queryLines(path: string, text: string | undefined): string {
  const outcomes = queryAll(path, text);
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

const envelope = (outcome: Animal | Failure) =>
  outcome instanceof Failure ? { error: outcome } : { result: { data: outcome } };

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
