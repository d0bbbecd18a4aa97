// Hot path: every REST request runs through it.
import { percentDecode } from '../../http/percentDecode.ts';
import type { PathTemplate } from '../../operations/pathTemplate.ts';

class Node<Value> {
  readonly literals = new Map<string, Node<Value>>();
  parameter: Node<Value> | undefined = undefined;
  /** Matches the rest of the path. It is a leaf. */
  rest: Node<Value> | undefined = undefined;
  value: Value | undefined = undefined;
}

export interface PathMatch<Value> {
  readonly value: Value;
  /**
   * The percent-decoded parameters in the template's order. One that is not valid UTF-8 is `undefined`. The rest of a
   * path is not decoded, since an encoded slash would become a separator.
   */
  readonly parameters: readonly (string | undefined)[];
}

/** Creates a matcher of paths against templates. Its time does not depend on the number of templates. */
export function createPathMatcher<Value>() {
  const root = new Node<Value>();
  return {
    /**
     * Returns the value of a template, and creates it with `make` for a new one. Templates that match the same paths
     * share a value.
     */
    at(template: PathTemplate, make: () => Value): Value {
      let node = root;
      for (const segment of template) {
        if (typeof segment === 'string') {
          const next = node.literals.get(segment) ?? new Node<Value>();
          node.literals.set(segment, next);
          node = next;
        } else if (segment.isRest) {
          node = node.rest ??= new Node<Value>();
        } else {
          node = node.parameter ??= new Node<Value>();
        }
      }
      return (node.value ??= make());
    },
    /**
     * Finds the value of a path. The path is split before its segments are decoded, so an encoded slash is part of a
     * segment (RFC 3986 §2.4). A literal segment takes precedence over a parameter, and both over the rest of a path.
     * @param path the path before percent-decoding, with a leading slash
     */
    match: (path: string): PathMatch<Value> | undefined => matchFrom(root, path, 1, noParameters),
  };
}

const noParameters: PathMatch<unknown>['parameters'] = [];

/** Matches the part of a path from `start` against the templates below a node. */
function matchFrom<Value>(
  node: Node<Value>,
  path: string,
  start: number,
  parameters: PathMatch<Value>['parameters'],
): PathMatch<Value> | undefined {
  if (start > path.length) return node.value === undefined ? undefined : { value: node.value, parameters };
  const slash = path.indexOf('/', start);
  const end = slash === -1 ? path.length : slash;
  const segment = percentDecode(path.slice(start, end));
  // Skipped if there are no literals: hashing the segment is most of the cost of a look-up.
  const literal = segment === undefined || node.literals.size === 0 ? undefined : node.literals.get(segment);
  let match = literal && matchFrom(literal, path, end + 1, parameters);
  // An empty segment does not match a parameter: /pets/ is not /pets/{petId}.
  if (match === undefined && node.parameter !== undefined && segment !== '') {
    match = matchFrom(node.parameter, path, end + 1, [...parameters, segment]);
  }
  if (match !== undefined || node.rest?.value === undefined || start === path.length) return match;
  return { value: node.rest.value, parameters: [...parameters, path.slice(start)] };
}
