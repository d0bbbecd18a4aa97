/** A parsed path template: `/pets/{petId}` is `['pets', { parameter: 'petId' }]`. Its texts are percent-decoded. */
export type PathTemplate = readonly (string | PathParameter)[];

/** Returns a path in lower case, but only its letters of ASCII: the Kelvin sign (U+212A) is no k. */
export const foldCase = (path: string): string =>
  path.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

interface PathParameter {
  readonly parameter: string;
  /** Whether the parameter matches the rest of the path, including slashes: `{+path}`. It is the last segment. */
  readonly isRest?: true;
  /** The text in the segment before and after the parameter: `{id}.json`. */
  readonly beside?: Affixes;
}

/** The text before and after a parameter in its segment. */
export interface Affixes {
  readonly before: string;
  readonly after: string;
}

/** Parses `/books/{id}.json` or `/files/{+path}` (RFC 6570 §3.2.3). `undefined` if invalid, or no encoded UTF-8. */
export function parsePathTemplate(path: string): PathTemplate | undefined {
  if (!path.startsWith('/')) return undefined;
  const texts = path.slice(1).split('/');
  const template = texts.map((text, index) => parseSegment(text, index === texts.length - 1));
  return template.every((segment) => segment !== undefined) ? template : undefined;
}

function parseSegment(text: string, isLast: boolean): PathTemplate[number] | undefined {
  const match = /^([^{}]*)\{(\+?)([^+{}][^{}]*)\}([^{}]*)$/.exec(text);
  const [, before = '', plus, parameter, after = ''] = match ?? [text, text];
  if (before.startsWith(':') || /[{}]/.test(before)) return undefined;
  const beside = { before: decode(before), after: decode(after) };
  if (beside.before === undefined || beside.after === undefined) return undefined;
  if (parameter === undefined) return beside.before === '' ? undefined : beside.before;
  const isAlone = text.startsWith('{') && text.endsWith('}');
  if (plus) return isAlone && isLast ? { parameter, isRest: true } : undefined;
  return isAlone ? { parameter } : { parameter, beside: beside as Affixes };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the same text for templates that match the same paths. */
export function templateKey(template: PathTemplate, ignoresCase: boolean): string {
  const write = (text: string) => encodeURIComponent(ignoresCase ? foldCase(text) : text);
  return template
    .map((segment) => {
      if (typeof segment === 'string') return `/${write(segment)}`;
      const { beside: { before, after } = { before: '', after: '' }, isRest } = segment;
      return `/${write(before)}{${isRest ? '+' : ''}}${write(after)}`;
    })
    .join('');
}

/** Returns a template whose texts are in lower case: of a service that ignores the case of paths. */
export const foldTemplate = (template: PathTemplate): PathTemplate =>
  template.map((segment) => {
    if (typeof segment === 'string') return foldCase(segment);
    const { beside } = segment;
    return beside
      ? { ...segment, beside: { before: foldCase(beside.before), after: foldCase(beside.after) } }
      : segment;
  });

/** Whether a template has text beside a parameter. */
export const hasAffixes = (template: PathTemplate): boolean =>
  template.some((segment) => typeof segment === 'object' && segment.beside !== undefined);

/** Whether all values of one parameter with text beside it are values of another: `{id}.min.js` and `{id}.js`. */
export const isWithin = (one: Affixes, other: Affixes): boolean =>
  one.before.startsWith(other.before) && one.after.endsWith(other.after);

/** Whether some paths match two templates with text beside parameters, neither more specific: `/a-{id}` and `/{id}.json`. */
export function isAmbiguous(one: PathTemplate, other: PathTemplate): boolean {
  let isUndecided = false;
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const [first, second] = [one[index], other[index]];
    if (first === undefined || second === undefined || !overlap(first, second)) return false;
    // The first segment that differs decides.
    if (!isUndecided && precedence(first, second) === 'decided') return false;
    isUndecided ||= precedence(first, second) === 'undecided';
    if (isRest(first) || isRest(second)) return isUndecided;
  }
  return isUndecided;
}

const isRest = (segment: PathTemplate[number]) => typeof segment === 'object' && segment.isRest === true;

const affixesOf = (segment: PathTemplate[number]): Affixes | undefined =>
  typeof segment === 'string' ? { before: segment, after: segment } : segment.beside;

/** Whether some texts match both segments. */
function overlap(first: PathTemplate[number], second: PathTemplate[number]): boolean {
  if (typeof first === 'string' && typeof second === 'string') return first === second;
  const [a, b] = [affixesOf(first), affixesOf(second)];
  if (a === undefined || b === undefined) return true;
  return (
    (a.before.startsWith(b.before) || b.before.startsWith(a.before)) &&
    (a.after.endsWith(b.after) || b.after.endsWith(a.after))
  );
}

function precedence(first: PathTemplate[number], second: PathTemplate[number]) {
  if (typeof first === 'string' || typeof second === 'string') return first === second ? 'equal' : 'decided';
  if (isRest(first) !== isRest(second) || !first.beside !== !second.beside) return 'decided';
  if (!first.beside || !second.beside) return 'equal';
  const [isFirst, isSecond] = [isWithin(first.beside, second.beside), isWithin(second.beside, first.beside)];
  if (isFirst !== isSecond) return 'decided';
  return isFirst ? 'equal' : 'undecided';
}

/** OpenAPI's syntax, without `+`: `/files/{path}`. What no URL contains, as a space, is percent-encoded. */
export const documentPath = (path: string): string =>
  path
    .replace('/{+', '/{')
    .replaceAll(
      /(\{[^}]*\})|[^\x21-\x7e]+/g,
      (text, parameter?: string) => parameter ?? encodeURIComponent(text),
    );
