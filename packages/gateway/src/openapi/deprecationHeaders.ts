import type { Deprecation } from '../procedures/meta.ts';

/** Where links of answers point: what stands in front of every absolute path. */
export interface LinkBase {
  /** The public origin, with a path where a proxy has one; `''` where links are paths of this server. */
  readonly origin: string;
  /** The origin and the REST base path. */
  readonly rest: string;
}

/** The headers that say an operation is deprecated: RFC 9745, RFC 8594, RFC 5829. */
export function deprecationHeaders(deprecation: Deprecation | undefined, base: LinkBase): [string, string][] {
  if (deprecation === undefined) return [];
  const { since, sunset, successor, documentation } = deprecation;
  const headers: [string, string][] = [['deprecation', `@${Math.floor(since.getTime() / 1000)}`]];
  if (sunset !== undefined) headers.push(['sunset', sunset.toUTCString()]);
  if (successor !== undefined) headers.push(['link', `<${base.rest}${successor}>; rel="successor-version"`]);
  if (documentation !== undefined) {
    const url = documentation.startsWith('/') ? `${base.origin}${documentation}` : documentation;
    headers.push(['link', `<${url}>; rel="deprecation"; type="text/html"`]);
  }
  return headers;
}
