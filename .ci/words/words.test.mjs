import { expect, test } from 'vitest';
import { findWords } from './findWords.mjs';
import { readTexts } from './readTexts.mjs';

/** The words found, as they stand there. */
const wordsIn = (path, source) =>
  findWords(path, readTexts(path, source)).map(({ word, start }) => {
    const [first] = word.split(' ');
    if (!path.includes(first)) expect(source.slice(start, start + first.length)).toBe(first);
    return word;
  });

test.each([
  ['a part of a name', 'const lastExchange = askedAt;', ['Exchange', 'asked']],
  ['a part of capitals', 'const WIRE_BYTES = 1;', ['WIRE']],
  ['several parts of a name', 'codeInWords();', ['InWords']],
  ['a whole name', 'const found = 1;', ['found']],
  ['a property', 'const { given } = it.said;', ['given', 'said']],
  ['nothing in a name that has the word as a part of a part', 'const surface = foundation + task;', []],
  ['nothing in a name that is whole only in part', 'const failedAttempts = notFound;', []],
  ['prose of a comment', '// The face of it.', ['face']],
  ['a phrase over two lines of comments', '// in\n// words\nconst a = 1;', ['in words']],
  ['a name in a comment', '/** As `lastExchange`, or maxWireBytes. */', ['Exchange', 'Wire']],
  ['a message', "throw new Error('Nobody may do it.');", ['Nobody']],
  ['a template', 'log(`It is refused by ${one}, and told to ${other}`);', ['refused', 'told']],
  ['a string that is a name', "on('exchange');", ['exchange']],
  ['nothing in the path of a file', "import { a } from './faces/one.ts';", []],
  ['nothing in the verb', '// It answers with 404.', []],
  [
    'the noun',
    '// The answer; an early answer; of answers.',
    ['The answer', 'an early answer', 'of answers'],
  ],
  ['nothing in an exception', '// The wire format is plain text, `text/plain`.', []],
  ['nothing in a name with an exception', "import fc from 'fast-check'; isPlainObject(/text\\/plain/);", []],
  ['what is not an exception', '// The wire, plain.', ['wire', 'plain']],
  ['nothing in URLs and paths', '// See https://example.com/wire/exchange and src/wire.ts.', []],
])('a script is reported with %s', (_, source, words) => {
  expect(wordsIn('packages/core/src/example.ts', source)).toEqual(words);
});

test.each([
  ['text', 'Nobody is told.', ['Nobody', 'told']],
  ['a phrase over two lines', 'a value that\nis none', ['that is none']],
  ['inline code', 'The option `onExchange`.', ['onExchange']],
  ['fenced code', '```ts\nconst told = "it asks twice";\n```\n', ['told', 'asks']],
  ['fenced output', '```\n{"exchange":1}\n```\n', ['exchange']],
  ['comments of fenced commands', '```sh\nnpm start # tells all\n```\n', ['tells']],
  ['nothing in the target of a link', '[protocols](faces.html#wire)', []],
  ['nothing of "who" in a heading', '# Who does what\n', []],
])('Markdown is reported with %s', (_, source, words) => {
  expect(wordsIn('README.md', source)).toEqual(words);
});

test.each([
  ['a script of a shell', '.ci/example', 'echo "it is told" # anew\n', ['told', 'anew']],
  ['a comment of Python', 'example.py', '# Refused\nrefusal = 1\n', ['Refused', 'refusal']],
  ['TOML', 'example.toml', 'wire = "x" # told\n', ['wire', 'told']],
  ['the name of a file', 'src/lastExchange.ts', '', ['Exchange']],
  ['a fault', 'src/server.ts', '// a fault', ['fault']],
  ['no fault in tests of faults', 'src/testing/server.ts', '// a fault', []],
  ['an adapter called host', 'packages/gateway/src/server.ts', '// the host; Host: x', ['host']],
  ['no host elsewhere', 'apps/server/src/server.ts', '// the host', []],
])('%s is reported', (_, path, source, words) => {
  expect(wordsIn(path, source).toSorted()).toEqual(words.toSorted());
});
