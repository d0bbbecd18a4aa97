// Hot path: every REST request runs through it.
import { foldCase, type PathMatching, type PathTemplate } from '../../operations/pathTemplate.ts';
import { percentDecode } from './textParameters.ts';

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
export function createPathMatcher<Value>({ ignoreTrailingSlash, ignorePathCase }: PathMatching) {
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
          const key = ignorePathCase ? foldCase(segment) : segment;
          const next = node.literals.get(key) ?? new Node<Value>();
          node.literals.set(key, next);
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
     * @param path the path before percent-decoding
     * @param start the index of its first slash
     */
    match(path: string, start = 0): PathMatch<Value> | undefined {
      let candidate: Candidate<Value> | undefined = { node: root, at: start + 1, parameters: noParameters };
      // The last one is tried first.
      const others: Candidate<Value>[] = [];
      const end = ignoreTrailingSlash && path.endsWith('/') ? path.length - 1 : path.length;
      for (; candidate; candidate = others.pop()) {
        let { node, at, parameters }: Candidate<Value> = candidate;
        while (at <= end) {
          const slash = path.indexOf('/', at);
          const segmentEnd = slash === -1 ? path.length : slash;
          const text = path.slice(at, segmentEnd);
          const segment = text.includes('%') ? percentDecode(text) : text;
          const { literals, parameter, rest } = node;
          // Skipped if there are no literals: hashing the segment is most of the cost of a look-up.
          const literal =
            segment === undefined || literals.size === 0
              ? undefined
              : literals.get(ignorePathCase ? foldCase(segment) : segment);
          if (rest && at < path.length) {
            others.push({ node: rest, at: Infinity, parameters: [...parameters, path.slice(at)] });
          }
          // An empty segment does not match a parameter: /pets/ is not /pets/{petId}.
          const matching = segment === '' ? undefined : parameter;
          if (matching && literal) {
            others.push({ node: matching, at: segmentEnd + 1, parameters: [...parameters, segment] });
          }
          const next = literal ?? matching;
          if (!next) break;
          if (!literal) parameters = parameters.concat([segment]);
          node = next;
          at = segmentEnd + 1;
        }
        if (at > end && node.value !== undefined) return { value: node.value, parameters };
      }
      return undefined;
    },
  };
}

/** A node whose templates may match the path from a position. */
interface Candidate<Value> {
  readonly node: Node<Value>;
  readonly at: number;
  readonly parameters: PathMatch<Value>['parameters'];
}

const noParameters: readonly never[] = [];
