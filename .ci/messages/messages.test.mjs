import { expect, test } from 'vitest';
import { findWords } from '../words/findWords.mjs';
import { collectMessages, messagesOf } from './collectMessages.mjs';
import { exceptions, trpcMessages } from './exceptions.mjs';
import { messagesPage } from './messagesPage.mjs';

const messages = collectMessages();
const own = messages.filter(({ text, kind }) => kind !== 'usage' && !trpcMessages.includes(text));

test('docs/messages.md lists the messages of the sources: npm run messages', async () => {
  expect(messages.length).toBeGreaterThan(500);
  await expect(messagesPage(messages)).toMatchFileSnapshot('../../docs/messages.md');
});

/** The rules: for which messages each is broken. */
const rules = {
  'ends with a period': ({ text, kind }) =>
    (kind === 'part' && /^\p{Lu}\p{Ll}+ \S+ \S/u.test(text)) ||
    (kind === 'close reason' && !text.endsWith('.')) ||
    (kind === 'log line' && (text.endsWith('.') || /^\p{Lu}\p{Ll}/u.test(text))),
  'names its subject, and does not begin with "It"': ({ text }) => /^Its? /.test(text),
  'has no word of the glossary': ({ text }) =>
    findWords('docs/messages.md', [{ kind: 'prose', place: 'string', text: withoutValues(text), start: 0 }])
      .length > 0,
  'has at most 35 words': ({ text, audience }) =>
    audience !== 'document' && withoutValues(text).split(/\s+/).length > 35,
  'is written in one file': ({ text, file, kind }) =>
    kind !== 'part' && kind !== 'label' && own.some((other) => other.text === text && other.file !== file),
};

const withoutValues = (text) => text.replaceAll(/\{[^{}]*\}/g, '{}');

test.each(Object.entries(rules))('every message %s, or exceptions.mjs says why not', (rule, isBroken) => {
  // A value may get another name.
  const broken = new Map(own.filter(isBroken).map(({ text }) => [withoutValues(text), text]));
  const excused = new Map(Object.keys(exceptions[rule]).map((text) => [withoutValues(text), text]));
  expect([...broken].flatMap(([key, text]) => (excused.has(key) ? [] : [text]))).toEqual([]);
  const stale = [...excused].flatMap(([key, text]) => (broken.has(key) ? [] : [text]));
  expect(stale, 'exceptions that can go').toEqual([]);
});

test("every message of tRPC's in exceptions.mjs is in the sources", () => {
  const texts = new Set(messages.map(({ text }) => text));
  expect(trpcMessages.filter((text) => !texts.has(text))).toEqual([]);
});

const collected = (source, file = 'packages/gateway/src/policies/example.ts') =>
  messagesOf(file, source).map(({ text, kind, audience }) => [text, kind, audience]);

test.each([
  ['in a literal', "reject('The body is empty.');", 'The body is empty.'],
  ['with a value', 'reject(`Port ${String(options.port)} is taken.`);', 'Port {port} is taken.'],
  [
    'a value in a function',
    'reject(`It is ${shown(value)}, of ${names.join(", ")}.`);',
    'It is {value}, of {names}.',
  ],
  [
    'a choice',
    "reject(`The file ${isLink ? 'is a link' : `of ${user}`}.`);",
    'The file {is a link|of {user}}.',
  ],
  ['in a sum', "reject('One of ' + count + ' calls ' + `failed.`);", 'One of {count} calls failed.'],
  ['in a constant', "const busy = 'Try again later.';", 'Try again later.'],
])('a message %s is collected', (_, source, text) => {
  expect(collected(source)).toEqual([[text, 'sentence', 'client']]);
});

test.each([
  ['a name', "on('close');"],
  ['a comparison', "if (text === 'keys of all') run();"],
  ['a type', "type Kind = 'one thing' | 'the other';"],
  ['an import', "import { a } from './the file.ts';"],
  ['the key of a property', "const a = { 'the key': 1 };"],
  ['an argument of split()', "text.split(' and then ');"],
  ['a list of headers', "const vary = 'trpc-accept, accept';"],
  ['a frame', "const end = 'event: end\\ndata: the end';"],
  ['a template of values alone', 'const key = `${method} ${path}`;'],
])('the text of %s is not collected', (_, source) => {
  expect(collected(source)).toEqual([]);
});

test.each([
  ['a part', "reject('must be an integer');", 'part', 'client'],
  ['the text of a log line', "log.info('worker listening');", 'log line', 'operator'],
  ['a close reason', "socket.close(1001, 'The server is stopping.');", 'close reason', 'client'],
  ['an error about the code', "throw new GatewayError('The route is not a path.');", 'sentence', 'author'],
  ['a description', "const a = { description: 'The page.', at: 1 };", 'sentence', 'document'],
  ['a summary', "const a = { summary: 'List animals' };", 'label', 'document'],
])('%s is collected with its kind and its audience', (_, source, kind, audience) => {
  expect(collected(source)).toEqual([[expect.any(String), kind, audience]]);
});
