import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentDecode } from './textParameters.ts';
import { createPathMatcher } from './pathMatcher.ts';
import { isAmbiguous, parsePathTemplate, type PathTemplate } from '../../operations/pathTemplate.ts';

const template = (path: string): PathTemplate => parsePathTemplate(path) ?? [];

function matcherOf(paths: readonly string[], isLenient: boolean) {
  const matcher = createPathMatcher<string>(isLenient);
  for (const path of paths) matcher.at(template(path), () => path);
  return matcher;
}

it.each<[path: string, parsed: PathTemplate | undefined]>([
  ['/pets/{petId}', ['pets', { parameter: 'petId' }]],
  ['/{a}/b/{c}', [{ parameter: 'a' }, 'b', { parameter: 'c' }]],
  ['/files/{+path}', ['files', { parameter: 'path', isRest: true }]],
  ['/{+path}/x', undefined],
  ['/x-{+path}', undefined],
  ['/{++path}', undefined],
  ['', undefined],
  ['pets', undefined],
  ['/pets//x', undefined],
  ['/books/{id}.json', ['books', { parameter: 'id', beside: { before: '', after: '.json' } }]],
  ['/items/{id}:archive', ['items', { parameter: 'id', beside: { before: '', after: ':archive' } }]],
  ['/a%20b/c%2F{id}', ['a b', { parameter: 'id', beside: { before: 'c/', after: '' } }]],
  ['/a%zz', undefined],
  ['/{}', undefined],
  ['/{a}{b}', undefined],
])('parsePathTemplate reads %s as %j', (path, parsed) => {
  expect(parsePathTemplate(path)).toEqual(parsed);
});

const isRest = (part: PathTemplate[number] | undefined): boolean =>
  typeof part === 'object' && part.isRest === true;

/** Returns the rest of a path from a segment on, not decoded. */
const restOf = (path: string, index: number) => path.slice(1).split('/').slice(index).join('/');

type Parameter = Exclude<PathTemplate[number], string>;

const textsOf = ({ beside }: Parameter) => [beside?.before, beside?.after].filter(Boolean).length;

/** Returns the value of a parameter with text beside it, if a segment has this text. */
function valueOf(
  { beside: { before, after } = { before: '', after: '' } }: Parameter,
  segment: string | undefined,
  cased: (text: string) => string | undefined,
): string | undefined {
  const value = segment?.slice(before.length, segment.length - after.length);
  if (!value || segment === undefined) return undefined;
  return cased(`${before}${value}${after}`) === cased(segment) ? value : undefined;
}

/** Tries every template; of those that match, selects the one with the earliest literal segments. */
function naiveMatch(paths: readonly string[], path: string, isLenient: boolean) {
  const segments = path.slice(1).split('/').map(percentDecode);
  const cased = <Text extends string | undefined>(text: Text) =>
    (isLenient ? text?.toLowerCase() : text) as Text;
  const matching = paths.filter((candidate) => {
    const parts = template(candidate);
    const isTrimmed = isLenient && !isRest(parts.at(-1)) && segments.at(-1) === '';
    const count = segments.length - (isTrimmed ? 1 : 0);
    return (
      (parts.length === count || (isRest(parts.at(-1)) && parts.length < count)) &&
      parts.every((part, index) => {
        if (typeof part === 'string') return cased(part) === cased(segments[index]);
        if (part.beside) return valueOf(part, cased(segments[index]), cased) !== undefined;
        return part.isRest ? restOf(path, index) !== '' : segments[index] !== '';
      })
    );
  });
  const order = (candidate: string) =>
    template(candidate)
      .map((part) => (typeof part === 'string' ? 0 : part.isRest ? 4 : (2 - textsOf(part)) / 2 + 1))
      .join(' ');
  const [value] = matching.toSorted((a, b) => order(a).localeCompare(order(b)));
  if (value === undefined) return undefined;
  const parameters = template(value).flatMap((part, index) =>
    typeof part === 'string'
      ? []
      : [
          part.isRest
            ? restOf(path, index)
            : part.beside
              ? valueOf(part, segments[index], cased)
              : segments[index],
        ],
  );
  return { value, parameters };
}

describe('createPathMatcher', () => {
  it('the path matcher shares one value among templates that match the same paths', () => {
    const matcher = createPathMatcher<object>(false);
    const value = matcher.at(template('/pets/{id}'), () => ({}));
    expect(matcher.at(template('/pets/{name}'), () => ({}))).toBe(value);
  });

  it('the path matcher returns the same match as a search through all templates', () => {
    const part = fc.constantFrom('a', 'b', 'c', '{x}', '{x}', 'a{x}', '{x}b', 'a{x}b');
    const templates = fc
      .array(fc.tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '', '/{+rest}')), {
        minLength: 1,
        maxLength: 8,
      })
      .map((list) => Array.from(new Set(list.map(([parts, rest]) => `/${parts.join('/')}${rest}`))));
    const segment = fc.constantFrom('a', 'b', 'c', '', '%61', 'a%2Fb', '%ff', 'A', 'ab', 'acb', 'cB');
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(templates, path, fc.boolean(), (paths, sent, isLenient) => {
        // `createGateway` rejects them.
        fc.pre(paths.every((one) => paths.every((other) => !isAmbiguous(template(one), template(other)))));
        expect(matcherOf(paths, isLenient).match(sent)).toEqual(naiveMatch(paths, sent, isLenient));
      }),
      { numRuns: 6000 },
    );
  });
});
