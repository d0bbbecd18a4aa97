import { Animal } from '@petstore/core';
import { type Answer, type AnswerFaults, answerFaults, type OpenApiDocument } from '@petstore/gateway-test';
import type { BadRequest } from './badRequest.ts';

/** Who formed an answer, what is wrong with it, and which animals it says were created. */
interface Verdict {
  readonly from: 'us' | 'parser';
  readonly faults: readonly string[];
  readonly created: readonly Animal[];
}

/** What every answer to bad input must hold, on each face. */
export type AnswerLaws = (request: BadRequest, answer: Answer) => Verdict;

/** @param secrets texts that no answer may hold */
export function answerLaws(document: OpenApiDocument, secrets: readonly string[]): AnswerLaws {
  const faultsOf: AnswerFaults = answerFaults(document);

  return ({ method, target }, answer) => {
    if (isOfTheParser(answer)) return { from: 'parser', faults: [], created: [] };
    const isRpc = /^\/trpc(?:[/?]|$)/.test(target);
    const faults = faultsOf(method, target, isRpc ? asJson(answer) : answer);
    if (answer.status >= 500) faults.push('Bad input is never a fault of the server.');
    const id = answer.header('x-request-id') ?? '';
    if (!/^[A-Za-z0-9._~:+/=-]{1,128}$/.test(id)) faults.push(`X-Request-Id is ${JSON.stringify(id)}.`);
    const all = `${JSON.stringify(answer.headers)}\n${answer.body.toString('latin1')}`;
    for (const secret of secrets) if (all.includes(secret)) faults.push(`It shows ${secret}.`);
    const isCreate = method === 'POST' && answer.status < 300;
    return { from: 'us', faults, created: isCreate ? animalsIn(answer.body.toString()) : [] };
  };
}

/**
 * What uWebSockets.js answers before a handler is called: HTML, and no request id. JavaScript can neither see nor mend it.
 */
export const isOfTheParser = ({ status, header }: Pick<Answer, 'status' | 'header'>): boolean =>
  [400, 431, 505].includes(status) &&
  header('x-request-id') === undefined &&
  !header('content-type')?.startsWith('application/');

/**
 * An answer of the tRPC face as if it were in JSON alone. What the official adapter refuses before it looks for a procedure
 * it calls plain text, though it is JSON too; and of JSON lines each is a JSON of its own.
 */
function asJson(answer: Answer): Answer {
  const { status, body } = answer;
  const type = answer.header('content-type');
  const isRefusal = type === 'text/plain;charset=UTF-8' && status >= 400 && status < 500;
  const isLines = type === 'application/json' && body.at(-1) === newline;
  const lines = body
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return {
    ...answer,
    header: (name) => (isRefusal && name === 'content-type' ? 'application/json' : answer.header(name)),
    body: isLines && lines.every(isJson) ? Buffer.from(`[${lines.join()}]`) : body,
  };
}

const newline = 10;

/** The animals in an answer to a create, wherever its envelope has them. */
function animalsIn(text: string): Animal[] {
  const lines = isJson(text) ? [text] : text.split('\n').filter(isJson);
  return lines.flatMap((line) => findAnimals(JSON.parse(line)));
}

function findAnimals(value: unknown): Animal[] {
  if (typeof value !== 'object' || value === null) return [];
  const animal = Animal.safeParse(value);
  return animal.success ? [animal.data] : Object.values(value).flatMap(findAnimals);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
