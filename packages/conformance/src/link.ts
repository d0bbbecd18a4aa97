/** One link of a `Link` header (RFC 8288 §3). */
export interface Link {
  /** The target as sent: absolute, or relative to the request's. */
  readonly target: string;
  /** By name in lower case; `rel` is one of them. */
  readonly parameters: Readonly<Record<string, string>>;
}

const LINK =
  /\s*<([^>]*)>((?:\s*;\s*[\w!#$&+\-.^`|~*]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)\s*(?:,|$)/y;
const PARAMETER = /;\s*([\w!#$&+\-.^`|~*]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+)))?/g;

/**
 * Parses `Link` (RFC 8288 appendix B.2, strictly: what the grammar does not allow is an error).
 * @throws {SyntaxError} naming the rest that is no link
 */
export function parseLinks(header: string | undefined): Link[] {
  const links: Link[] = [];
  const text = header ?? '';
  let at = 0;
  while (at < text.length) {
    LINK.lastIndex = at;
    const [whole, target, rest] = LINK.exec(text) ?? [];
    if (whole === undefined || target === undefined || rest === undefined) {
      throw new SyntaxError(`Not a Link header from ${JSON.stringify(text.slice(at))} on.`);
    }
    const parameters: Record<string, string> = {};
    for (const [, name = '', quoted, token] of rest.matchAll(PARAMETER)) {
      // The first `rel` counts (RFC 8288 §3.3), and so do the first of the others here.
      parameters[name.toLowerCase()] ??= quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
    }
    links.push({ target, parameters });
    at += whole.length;
  }
  return links;
}

/** The target of the link with this relation; of several the first. */
export function linkTarget(header: string | undefined, rel: string): string | undefined {
  return parseLinks(header).find((link) => link.parameters['rel']?.split(' ').includes(rel))?.target;
}
