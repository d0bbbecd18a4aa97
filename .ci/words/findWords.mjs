/** Finds the words of the glossary in the texts of a file. */
import { glossary } from './glossary.mjs';

/**
 * @typedef {object} Occurrence
 * @property {string} word As it stands there.
 * @property {import('./glossary.mjs').Row} row
 * @property {number} start The offset in the file.
 */

const rows = glossary.map((row) => ({
  row,
  names: row.names && pattern(row.names, 'g'),
  prose: row.prose && pattern(row.prose, row.matchCase ? 'g' : 'gi'),
  wholeName: row.wholeName && new RegExp(`^(?:${row.wholeName})$`),
  except: (row.except ?? []).map((exception) => ({
    exception,
    text: exception.text && pattern(exception.text, 'gi'),
  })),
}));

/** A space of a pattern is any white space: a phrase may go over the end of a line. */
function pattern(source, flags) {
  return new RegExp(`(?<![\\w])(?:${source.replaceAll(' ', '\\s+')})(?![\\w])`, flags);
}

/** Exceptions by which something was excused, to find those that can go. */
export const usedExceptions = new Set();

const anyProse = new RegExp(
  glossary
    .flatMap(({ prose = [] }) => prose)
    .map((source) => pattern(source, '').source)
    .join('|'),
  'i',
);

/** @returns {Occurrence[]} */
export function findWords(path, texts) {
  return texts
    .flatMap(({ kind, place, text, start }) =>
      (kind === 'name' ? matchesInName(text) : matchesInProse(text, place))
        .filter(
          ({ row: { row, except }, isWhole, ...match }) =>
            (!isWhole || place === 'code') &&
            row.files?.test(path) !== false &&
            !except.some((each) => isExcused(path, text, match, each)),
        )
        .map(({ row: { row }, index, length }) => ({
          word: text.slice(index, index + length).replaceAll(/\s+/g, ' '),
          row,
          start: start + index,
        })),
    )
    .toSorted((one, other) => one.start - other.start);
}

const matchesOfNames = new Map();

/** Most names are in many places. */
function matchesInName(name) {
  let matches = matchesOfNames.get(name);
  if (matches === undefined) {
    const parts = [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)];
    const joined = parts.map((part) => part[0].toLowerCase()).join(' ');
    matches = rows.flatMap((row) => [
      ...(row.wholeName?.test(name) ? [{ row, index: 0, length: name.length, isWhole: true }] : []),
      ...Array.from(row.names ? joined.matchAll(row.names) : [], (match) => {
        const first = joined.slice(0, match.index).split(' ').length - 1;
        const last = parts[first + match[0].split(' ').length - 1];
        return { row, index: parts[first].index, length: last.index + last[0].length - parts[first].index };
      }),
    ]);
    matchesOfNames.set(name, matches);
  }
  return matches;
}

function matchesInProse(text, place) {
  if (!anyProse.test(text)) return [];
  return rows
    .filter(({ prose, row: { places } }) => prose && places?.includes(place) !== false)
    .flatMap((row) =>
      Array.from(text.matchAll(row.prose), ({ 0: { length }, index }) => ({ row, index, length })),
    );
}

function isExcused(path, text, { index, length }, { exception, text: excused }) {
  if (exception.files?.test(path) === false) return false;
  if (
    excused &&
    !Array.from(text.matchAll(excused)).some(
      (match) => match.index <= index && index + length <= match.index + match[0].length,
    )
  )
    return false;
  usedExceptions.add(exception);
  return true;
}
