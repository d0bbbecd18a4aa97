// Hot path: every REST request runs through it.
import { percentDecode } from './convertText.ts';
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

const noParameters: PathMatch<unknown>['parameters'] = [];

/** Creates a matcher of paths against templates. Its time does not depend on the number of templates. */
export function createPathMatcher<Value>() {
  const root = new Node<Value>();

  /**
   * Finds the value of a path. The path is split before its segments are decoded, so an encoded slash is part of a
   * segment (RFC 3986 §2.4). A literal segment takes precedence over a parameter, and both over the rest of a path.
   * @param path the path before percent-decoding, with a leading slash
   * @param from the node whose templates match the part of the path from `start`
   */
  function match(
    path: string,
    from = root,
    start = 1,
    before: PathMatch<Value>['parameters'] = noParameters,
  ): PathMatch<Value> | undefined {
    let node = from;
    let parameters = before;
    let at = start;
    while (at <= path.length) {
      const slash = path.indexOf('/', at);
      const end = slash === -1 ? path.length : slash;
      const text = path.slice(at, end);
      const segment = text.includes('%') ? percentDecode(text) : text;
      const { parameter, rest } = node;
      // Skipped if there are no literals: hashing the segment is most of the cost of a look-up.
      const literal =
        segment === undefined || node.literals.size === 0 ? undefined : node.literals.get(segment);
      // An empty segment does not match a parameter: /pets/ is not /pets/{petId}.
      const asParameter = segment === '' ? undefined : parameter;
      const restValue = at === path.length ? undefined : rest?.value;
      if (literal && (asParameter || restValue !== undefined)) {
        const found = match(path, literal, end + 1, parameters);
        if (found) return found;
      }
      if (asParameter && restValue !== undefined) {
        const found = match(path, asParameter, end + 1, [...parameters, segment]);
        if (found) return found;
      }
      if (restValue !== undefined) return { value: restValue, parameters: [...parameters, path.slice(at)] };
      // Only one way is left: no need to return here.
      if (asParameter) parameters = parameters.concat([segment]);
      const next = asParameter ?? literal;
      if (next === undefined) return undefined;
      node = next;
      at = end + 1;
    }
    return node.value === undefined ? undefined : { value: node.value, parameters };
  }

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
    match,
  };
}
