/** One link of a `Link` header (RFC 8288 §3). */
export interface Link {
  /** The target as sent: an absolute URL, or one relative to the request's. */
  readonly target: string;
  /** The parameters, `rel` among them, by name in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

const LINK =
  /\s*<([^>]*)>((?:\s*;\s*[\w!#$&+\-.^`|~*]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,]+))?)*)\s*(?:,|$)/y;
const PARAMETER = /;\s*([\w!#$&+\-.^`|~*]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+)))?/g;

/**
 * Parses a `Link` header strictly by the grammar (RFC 8288 §3 and appendix B.2).
 * @throws {SyntaxError} with the rest of the header that is not a link
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
      // Only the first `rel` counts (RFC 8288 §3.3); the same is done for all other parameters.
      parameters[name.toLowerCase()] ??= quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
    }
    links.push({ target, parameters });
    at += whole.length;
  }
  return links;
}

/** Returns the target of the first link with this relation. */
export function linkTarget(header: string | undefined, rel: string): string | undefined {
  return parseLinks(header).find((link) => link.parameters['rel']?.split(' ').includes(rel))?.target;
}
