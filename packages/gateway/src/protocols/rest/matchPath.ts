// Hot path: every REST request runs through it.
import { percentDecode } from '../../http/percentDecode.ts';
import type { PathTemplate } from '../../openapi/pathTemplate.ts';

class Node<Value> {
  readonly literals = new Map<string, Node<Value>>();
  parameter: Node<Value> | undefined = undefined;
  /** What takes the rest of the path; it has no node below. */
  rest: Node<Value> | undefined = undefined;
  value: Value | undefined = undefined;
}

export interface PathMatch<Value> {
  readonly value: Value;
  /**
   * Percent-decoded, in the template's order; `undefined` where one is not valid UTF-8. The rest of a path is as
   * received: decoded, an encoded slash would look like one that separates.
   */
  readonly parameters: readonly (string | undefined)[];
}

/** Matches paths against templates in time that does not depend on the number of templates. */
export function createPathMatcher<Value>() {
  const root = new Node<Value>();
  return {
    /**
     * The value at a template; `make` creates it where the template is new. Templates that match the same paths share
     * it.
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
     * Finds the value that a path names. The path is split first and each segment is decoded then, so an encoded slash
     * belongs to its segment (RFC 3986 §2.4). A literal segment wins over a parameter, and both over the rest of a
     * path.
     * @param path as received, starting with a slash
     */
    match: (path: string): PathMatch<Value> | undefined => find(root, path, 1, noParameters),
  };
}

const noParameters: PathMatch<unknown>['parameters'] = [];

/** Finds the value of the rest of a path below a node. */
function find<Value>(
  node: Node<Value>,
  path: string,
  start: number,
  parameters: PathMatch<Value>['parameters'],
): PathMatch<Value> | undefined {
  if (start > path.length) return node.value === undefined ? undefined : { value: node.value, parameters };
  const slash = path.indexOf('/', start);
  const end = slash === -1 ? path.length : slash;
  const segment = percentDecode(path.slice(start, end));
  // A lookup hashes the segment, which is most of its cost.
  const literal = segment === undefined || node.literals.size === 0 ? undefined : node.literals.get(segment);
  let match = literal && find(literal, path, end + 1, parameters);
  // An empty segment is no value for a parameter: /pets/ is not /pets/{petId}.
  if (match === undefined && node.parameter !== undefined && segment !== '') {
    match = find(node.parameter, path, end + 1, [...parameters, segment]);
  }
  if (match !== undefined || node.rest?.value === undefined || start === path.length) return match;
  return { value: node.rest.value, parameters: [...parameters, path.slice(start)] };
}
