/** Splits a file into names and prose, so that each can be held against the glossary. */
import { basename } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/**
 * @typedef {object} Text A part of a file. It is as long as what it stands for, so that offsets into it are the file's.
 * @property {'name' | 'prose'} kind An identifier, or text of several words.
 * @property {'file' | 'code' | 'mention' | 'string' | 'comment' | 'markdown' | 'heading'} place Where it stands. A mention
 *   is a name in prose or in a string.
 * @property {string} text
 * @property {number} start The offset in the file, 0 for the file's own name.
 */

/** @returns {Text[]} */
export function readTexts(path, source) {
  const name = basename(path);
  const texts = [{ kind: 'name', place: 'file', text: name, start: 0 }];
  if (name.endsWith('.md')) return [...texts, ...readMarkdown(source, 0)];
  return [...texts, ...(isScript.test(name) ? readScript(name, source, 0) : readHashed(source, 0))];
}

const isScript = /\.(?:[mc]?[jt]s|[jt]sx)$/;

const blank = (text) => text.replaceAll(/[^\n]/g, ' ');

// --- TypeScript and JavaScript

function readScript(name, source, offset) {
  const { program, comments, errors } = parseSync(name, source);
  // A fence may have a part of a statement.
  if (errors.length > 0) return namesIn(source, offset, 'mention');
  const texts = [];
  const ranges = comments.map((comment) => ({ start: comment.start, end: comment.end, isComment: true }));
  const addRange = (node) => ranges.push({ start: node.start, end: node.end, isComment: false });
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string' || node.regex) addRange(node);
    },
    TemplateElement: addRange,
    JSXText: addRange,
  }).visit(program);
  /** What is left is code: the ranges of other texts are blanked. */
  let code = '';
  let end = 0;
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    code += source.slice(end, range.start) + blank(source.slice(range.start, range.end));
    ({ end } = range);
    const text = source.slice(range.start, range.end);
    if (range.isComment) addComment(texts, source, { text, start: offset + range.start });
    else texts.push(...readString(text, offset + range.start));
  }
  texts.push(...namesIn(code + source.slice(end), offset, 'code'));
  return texts.flatMap((text) => (text.place === 'comment' ? readComment(text) : [text]));
}

/** Line comments below each other are one text, in which a phrase may go over the end of a line. */
function addComment(texts, source, { text, start }) {
  const last = texts.at(-1);
  const gap = last?.place === 'comment' ? source.slice(last.start + last.text.length, start) : undefined;
  if (text.startsWith('//') && gap?.trim() === '') last.text += gap + text;
  else texts.push({ kind: 'prose', place: 'comment', text, start });
}

function readComment({ text, start }) {
  return readProse(
    text.replaceAll(/^\s*(?:\/\*+|\/\/+|\*\/?|#+)/gm, (mark) => mark.replaceAll(/\S/g, ' ')),
    start,
    'comment',
  );
}

const filePath = /^['"`]?[\w@.$*{},/-]+\.(?:[mc]?[jt]s|[jt]sx|md|json)(?:#[\w-]+)?['"`]?$/;

/** A string without a space is the name of something, and a file's path is reported with the file. */
function readString(source, start) {
  if (filePath.test(source)) return [];
  const text = source.replaceAll(/\\[^/]/g, '  ');
  return /\s/.test(source.trim()) ? readProse(text, start, 'string') : namesIn(text, start, 'mention');
}

// --- Markdown

/** Fenced code is read in its language. Other fences, such as output, and `inline code` are names. */
function readMarkdown(source, offset) {
  const texts = [];
  let prose = source;
  for (const fence of source.matchAll(
    /^(?<open>[ \t]*(?<mark>```+|~~~+)(?<language>\w*)[^\n]*\n)(?<code>[\s\S]*?)^[ \t]*\k<mark>[ \t]*$/gm,
  )) {
    const { open, language, code } = fence.groups;
    const start = fence.index + open.length;
    texts.push(...readFence(language, code, offset + start));
    prose = prose.slice(0, fence.index) + blank(fence[0]) + prose.slice(fence.index + fence[0].length);
  }
  prose = prose.replaceAll(/(?<=\]\()[^)\n]*(?=\))/g, blank);
  for (const paragraph of prose.matchAll(/[^\n]+(?:\n[^\n]+)*/g))
    for (const part of paragraph[0].matchAll(/^#{1,6} .*$|(?:^(?!#{1,6} ).*$\n?)+/gm))
      texts.push(
        ...readProse(
          part[0],
          offset + paragraph.index + part.index,
          /^#{1,6} /.test(part[0]) ? 'heading' : 'markdown',
        ),
      );
  return texts;
}

function readFence(language, code, start) {
  if (isScript.test(`.${language}`)) return readScript(`fence.${language}`, code, start);
  return /^(?:sh|bash|ya?ml|toml|python)$/.test(language)
    ? readHashed(code, start)
    : namesIn(code, start, 'mention');
}

// --- Files with comments behind `#`: shell, Python, TOML, YAML, Dockerfile

function readHashed(source, offset) {
  const texts = [];
  const code = source.replaceAll(
    /(?<string>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(?<=^|\s)(?<comment>#[^\n]*(?:\n[ \t]*#[^\n]*)*)/g,
    (text, ...rest) => {
      const { comment } = rest.at(-1);
      const start = offset + rest.at(-3);
      texts.push(...(comment === undefined ? readString(text, start) : readComment({ text, start })));
      return blank(text);
    },
  );
  return [...texts, ...namesIn(code, offset, 'code')];
}

// --- What they have in common

/** URLs, and paths of files, with which their names are reported. */
const elsewhere =
  /\bhttps?:\/\/[^\s)>\]]+|[\w@.$*{},/-]*\/[\w@.$*{},/-]+\.(?:[mc]?[jt]sx?|md|json)(?:#[\w-]+)?/g;

/** Prose, and the names in it: what stands between backticks, and words such as `maxBytes` and `MAX_BYTES`. */
function readProse(source, start, place) {
  const names = [];
  const addNames = (text, ...rest) => {
    names.push(...namesIn(text, start + rest.find((each) => typeof each === 'number'), 'mention'));
    return text.replaceAll(/[^\n]/g, '`');
  };
  const text = source
    .replaceAll(elsewhere, blank)
    .replaceAll(/(?<!`)(?<mark>`+)(?!`)[^`]+\k<mark>(?!`)/g, addNames)
    .replaceAll(/\b\w*(?:[a-z][A-Z]|\w_\w)\w*\b/g, addNames);
  return [...names, { kind: 'prose', place, text, start }];
}

const identifier = /[A-Za-z_$][\w$]*/g;
/** Also such as `text/plain`, `fast-check` and `reply.raw`, which are one name. */
const mention = /[A-Za-z_$][\w$]*(?:\\?[/.+-]\w+)*/g;

/** @returns {Text[]} */
function namesIn(code, offset, place) {
  return Array.from(code.matchAll(place === 'code' ? identifier : mention), ({ 0: text, index }) => ({
    kind: 'name',
    place,
    text,
    start: offset + index,
  }));
}
