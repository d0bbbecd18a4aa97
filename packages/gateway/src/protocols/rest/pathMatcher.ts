// Hot path: every REST request runs through it.
import { foldCase, isWithin, type Affixes, type PathTemplate } from '../../operations/pathTemplate.ts';
import { percentDecode } from './textParameters.ts';

class Node<Value> {
  readonly literals = new Map<string, Node<Value>>();
  /** The parameters with text beside them, the more specific ones first. `undefined` for none, as in most nodes. */
  affixed: Affixed<Value>[] | undefined = undefined;
  parameter: Node<Value> | undefined = undefined;
  /** Matches the rest of the path. It is a leaf. */
  rest: Node<Value> | undefined = undefined;
  value: Value | undefined = undefined;
}

interface Affixed<Value> extends Affixes {
  readonly node: Node<Value>;
}

/**
 * Matches paths against templates, in a time independent of their number, except that those with text beside a
 * parameter are compared if the segments before are the same. `isLenient`: in any case, with or without a last slash.
 */
export function createPathMatcher<Value>(isLenient: boolean) {
  const root = new Node<Value>();
  const fold = (text: string) => (isLenient ? foldCase(text) : text);

  return {
    /** Returns the value of a template; `make` creates it for a new one. Templates that match the same paths share a value. */
    at(template: PathTemplate, make: () => Value): Value {
      let node = root;
      for (const segment of template) {
        if (typeof segment === 'string') {
          const key = fold(segment);
          const next = node.literals.get(key) ?? new Node<Value>();
          node.literals.set(key, next);
          node = next;
        } else if (segment.isRest) {
          node = node.rest ??= new Node<Value>();
        } else if (segment.beside) {
          node = affixedNode(node, fold(segment.beside.before), fold(segment.beside.after));
        } else {
          node = node.parameter ??= new Node<Value>();
        }
      }
      return (node.value ??= make());
    },

    /**
     * Finds the value of a path. The path is split before its segments are decoded, so an encoded slash is part of a
     * segment (RFC 3986 §2.4). A literal segment takes precedence over a parameter with text beside it, that over a
     * parameter, and all over the rest of a path. Of two parameters with text, the one with more text is first.
     * @param path the path before percent-decoding
     * @param start the index of its first slash
     * @returns also its parameters, percent-decoded, in the template's order. One that is not valid UTF-8 is `undefined`.
     *   The rest of a path is not decoded, since an encoded slash would become a separator
     */
    match(path: string, start = 0) {
      let node = root;
      let at = start + 1;
      let parameters: Candidate<Value>['parameters'] = [];
      /** What is tried if this fails, the last one first. Created when needed, as for few paths. */
      let others: Candidate<Value>[] | undefined;
      const end = isLenient && path.endsWith('/') ? path.length - 1 : path.length;
      for (;;) {
        while (at <= end) {
          const slash = path.indexOf('/', at);
          const segmentEnd = slash === -1 ? path.length : slash;
          const text = path.slice(at, segmentEnd);
          const segment = text.includes('%') ? percentDecode(text) : text;
          const { affixed, literals, parameter, rest } = node;
          // Skipped if there are no literals: hashing the segment is most of the cost of a look-up.
          const literal =
            segment === undefined || literals.size === 0
              ? undefined
              : literals.get(isLenient ? foldCase(segment) : segment);
          if (rest && at < path.length) {
            (others ??= []).push({ node: rest, at: Infinity, parameters: [...parameters, path.slice(at)] });
          }
          // An empty segment does not match a parameter: /pets/ is not /pets/{petId}.
          const matching = segment === '' ? undefined : parameter;
          const beside =
            affixed === undefined || segment === undefined ? undefined : matchAffixes(affixed, segment, fold);
          if (matching && (literal || beside)) {
            const found = [...parameters, segment];
            (others ??= []).push({ node: matching, at: segmentEnd + 1, parameters: found });
          }
          let next = literal ?? matching;
          let value = segment;
          if (beside !== undefined) {
            const later = literal ? beside : beside.slice(1);
            for (const other of later.toReversed()) {
              const found = [...parameters, other.value];
              (others ??= []).push({ node: other.node, at: segmentEnd + 1, parameters: found });
            }
            if (!literal) ({ node: next, value } = beside[0]);
          }
          if (!next) break;
          // The other candidates have copies. `push` would give an empty array 17 places (V8).
          if (!literal) {
            if (parameters.length === 0) parameters = [value];
            else parameters.push(value);
          }
          node = next;
          at = segmentEnd + 1;
        }
        if (at > end && node.value !== undefined) return { value: node.value, parameters };
        const other = others?.pop();
        if (other === undefined) return undefined;
        ({ node, at, parameters } = other);
      }
    },
  };
}

/** Returns the node of a parameter with text beside it, and creates it at its place in the order. */
function affixedNode<Value>(parent: Node<Value>, before: string, after: string): Node<Value> {
  const all = (parent.affixed ??= []);
  const known = all.find((each) => each.before === before && each.after === after);
  if (known) return known.node;
  const added = { before, after, node: new Node<Value>() };
  const next = all.findIndex((each) => isWithin(added, each));
  all.splice(next === -1 ? all.length : next, 0, added);
  return added.node;
}

interface AffixMatch<Value> {
  readonly node: Node<Value>;
  readonly value: string;
}

/** Returns the parameters with text beside them that match a segment, with their values; `undefined` for none. */
function matchAffixes<Value>(
  affixed: readonly Affixed<Value>[],
  segment: string,
  fold: (text: string) => string,
): readonly [AffixMatch<Value>, ...AffixMatch<Value>[]] | undefined {
  const folded = fold(segment);
  const [first, ...more] = affixed
    .filter(
      ({ before, after }) =>
        folded.length > before.length + after.length && folded.startsWith(before) && folded.endsWith(after),
    )
    .map(({ before, after, node }) => ({
      node,
      value: segment.slice(before.length, segment.length - after.length),
    }));
  return first && [first, ...more];
}

/** A node whose templates may match the path from a position. */
interface Candidate<Value> {
  readonly node: Node<Value>;
  readonly at: number;
  /** The parameters so far; the matcher adds those that follow. */
  readonly parameters: (string | undefined)[];
}
