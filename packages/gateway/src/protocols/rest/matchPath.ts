import { percentDecode } from '../../http/percentDecode.ts';
import type { PathTemplate } from '../../openapi/pathTemplate.ts';

interface Node<Value> {
  readonly literals: Map<string, Node<Value>>;
  parameter: Node<Value> | undefined;
  value: Value | undefined;
}

const newNode = <Value>(): Node<Value> => ({ literals: new Map(), parameter: undefined, value: undefined });

export interface PathMatch<Value> {
  readonly value: Value;
  /** The parameters' texts, percent-decoded, in the template's order; `undefined` where one is not valid UTF-8. */
  readonly parameters: readonly (string | undefined)[];
}

export interface PathMatcher<Value> {
  /** The value at a template; `make` gives it where the template is new. Templates that match the same paths share it. */
  readonly at: (template: PathTemplate, make: () => Value) => Value;
  /**
   * Finds what a path names. The path is split first and each segment is decoded then, so an encoded slash belongs to
   * its segment (RFC 3986 §2.4). A literal segment wins over a parameter.
   * @param path as received, starting with a slash
   */
  readonly match: (path: string) => PathMatch<Value> | undefined;
}

/** Matches paths against templates in time that grows with the path's segments alone. */
export function createPathMatcher<Value>(): PathMatcher<Value> {
  const root = newNode<Value>();

  const find = (
    from: Node<Value>,
    segments: readonly (string | undefined)[],
    index: number,
    taken: (string | undefined)[],
  ): Value | undefined => {
    if (index === segments.length) return from.value;
    const segment = segments[index];
    const { literals } = from;
    // To look it up is to hash it, which where there is nothing to find is all of the cost.
    const literal = segment === undefined || literals.size === 0 ? undefined : literals.get(segment);
    const found = literal && find(literal, segments, index + 1, taken);
    // An empty segment is no value for a parameter: /pets/ is not /pets/{petId}.
    if (found !== undefined || from.parameter === undefined || segment === '') return found;
    taken.push(segment);
    const below = find(from.parameter, segments, index + 1, taken);
    if (below === undefined) taken.pop();
    return below;
  };

  return {
    at(template, make) {
      let at = root;
      for (const segment of template) {
        if (typeof segment === 'string') {
          const next = at.literals.get(segment) ?? newNode<Value>();
          at.literals.set(segment, next);
          at = next;
        } else {
          at = at.parameter ??= newNode<Value>();
        }
      }
      at.value ??= make();
      return at.value;
    },
    match(path) {
      const segments = segmentsOf(path);
      const parameters: (string | undefined)[] = [];
      const value = find(root, segments, 0, parameters);
      return value === undefined ? undefined : { value, parameters };
    },
  };
}

/** The segments of a path, decoded; `undefined` for one that is not valid UTF-8. Not `split`: hot path. */
function segmentsOf(path: string): readonly (string | undefined)[] {
  const segments: (string | undefined)[] = [];
  for (let at = 1; at <= path.length;) {
    const slash = path.indexOf('/', at);
    const end = slash === -1 ? path.length : slash;
    const segment = path.slice(at, end);
    segments.push(percentDecode(segment));
    at = end + 1;
  }
  return segments;
}
