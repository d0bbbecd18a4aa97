import type { Header } from '../http/response.ts';
import type { Deprecation, RestMeta } from '../procedures/meta.ts';

/** The prefixes of URLs in `Link` headers. */
export interface LinkBase {
  /** The public origin, including the path of a proxy if any; `''` for links that are only paths. */
  readonly origin: string;
  /** The origin and the REST base path. */
  readonly rest: string;
}

/** Returns the headers of a deprecated operation (RFC 9745, RFC 8594, RFC 5829). */
export function deprecationHeaders(deprecation: Deprecation | undefined, base: LinkBase): readonly Header[] {
  if (deprecation === undefined) return [];
  const { since, sunset, successor, documentation } = deprecation;
  const headers: Header[] = [['deprecation', `@${Math.floor(since.getTime() / 1000)}`]];
  if (sunset !== undefined) headers.push(['sunset', sunset.toUTCString()]);
  if (successor !== undefined) headers.push(['link', `<${base.rest}${successor}>; rel="successor-version"`]);
  if (documentation !== undefined) {
    const url = documentation.startsWith('/') ? `${base.origin}${documentation}` : documentation;
    headers.push(['link', `<${url}>; rel="deprecation"; type="text/html"`]);
  }
  return headers;
}

/** Returns the description of an operation. The dates of a deprecation are added at its end. */
export function operationDescription({ description, deprecation }: RestMeta): string | undefined {
  if (deprecation === undefined) return description;
  const { since, sunset } = deprecation;
  const notice = `Deprecated since ${longDate(since)}${sunset ? `, removed on ${longDate(sunset)}` : ''}.`;
  return description === undefined ? notice : `${description} ${notice}`;
}

/** Formats a date: 5 December 2030. */
const longDate = (date: Date) => date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
