/** Collects the messages of the sources: every text that reaches a user. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, visitorKeys } from 'oxc-parser';
import { audienceOf } from './audience.mjs';
import { isText, textOf } from './text.mjs';

/**
 * @typedef {import('oxc-parser').Node} Node
 * @typedef {'sentence' | 'part' | 'label' | 'log line' | 'close reason' | 'usage'} Kind A part stands in other messages:
 *   after the name of a field, or in place of a `{name}`. A label is a title, a summary, or a
 *   description that is printed with a period.
 *
 * @typedef {object} Message
 * @property {string} text Values are `{name}`, and a choice of texts is `{one|other}`.
 * @property {string} file Relative to the repository.
 * @property {import('./audience.mjs').Audience} audience
 * @property {Kind} kind
 */

const root = fileURLToPath(new URL('../../', import.meta.url));

const folders = [
  ...['core', 'gateway', 'runtime', 'typegen', 'types'].map((name) => `packages/${name}/src`),
  'apps/server/src',
];

/** Tests, what is generated from the router, and the phrases of RFC 9110. */
const notRead = /\.test(?:-d)?\.ts$|\/testing\/|\/store\/contract\.ts$|\/generated\/|\/statusText\.ts$/;

/** @returns {Message[]} In the order of the files, and of their lines. */
export function collectMessages() {
  return folders
    .flatMap((folder) => {
      const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
      return names.toSorted().map((name) => `${folder}/${name}`);
    })
    .filter((file) => /\.tsx?$/.test(file) && !notRead.test(file))
    .flatMap((file) => messagesOf(file, readFileSync(join(root, file), 'utf8')));
}

/**
 * The messages of one source file: its literals that have words, wherever they stand. A new function that takes a message
 * needs no rule here. A text that stands several times in a file is one message.
 *
 * @param {string} file
 * @param {string} source
 * @returns {Message[]}
 */
export function messagesOf(file, source) {
  const {
    program,
    errors: [error],
  } = parseSync(file, source);
  if (error) throw new SyntaxError(`${file}: ${error.message}`);
  /** @type {Map<string, Message>} */
  const messages = new Map();
  const visit = (node, ancestors) => {
    if (isSkipped(node, ancestors.at(-1))) return;
    const rendered = textOf(node);
    const text = rendered?.text;
    if (text !== undefined && isText(text) && !messages.has(text)) {
      messages.set(text, {
        text,
        file,
        audience: audienceOf(file, ancestors),
        kind: kindOf(text, ancestors),
      });
    }
    const within = [...ancestors, node];
    for (const child of rendered?.values ?? childrenOf(node)) visit(child, within);
  };
  visit(program, []);
  return [...messages.values()];
}

const childrenOf = (node) => (visitorKeys[node.type] ?? []).flatMap((key) => node[key] ?? []).filter(Boolean);

const splitters =
  /^(?:split|join|endsWith|startsWith|includes|replace|replaceAll|get|has|padStart|padEnd|test)$/;

/** Names, types, what is compared, and arguments of the methods that take strings apart. */
function isSkipped(node, parent) {
  if (/^(?:Import|ExportAll|TS(?!As|Satisfies|NonNull))/.test(node.type)) return true;
  switch (parent?.type) {
    case 'Property':
    case 'PropertyDefinition':
      return parent.key === node;
    case 'SwitchCase':
      return parent.test === node;
    case 'BinaryExpression':
      return node.type === 'Literal' && parent.operator !== '+';
    case 'CallExpression':
      return parent.callee !== node && splitters.test(parent.callee.property?.name);
    default:
      return false;
  }
}

/** @returns {Kind} */
function kindOf(text, ancestors) {
  if (text.includes('\n\n')) return 'usage';
  const call = ancestors.findLast(({ type }) => type === 'CallExpression' || type === 'NewExpression');
  const callee = call?.type === 'CallExpression' ? call.callee : undefined;
  if (callee?.object?.name === 'log') return 'log line';
  if (callee?.property?.name === 'close') return 'close reason';
  const property = ancestors.findLast(({ type }) => type === 'Property');
  if (isSentence.test(text)) return 'sentence';
  return /^(?:summary|title|noun|description|takes)$/.test(property?.key.name) ? 'label' : 'part';
}

/** It ends with a period, which an alternative may follow, or with another message. */
const isSentence = /[.?!]\n?$|\.\{\|.*\}$|[.:] (?:\{\w+\})+$/;
