import type { Header } from '../http/response.ts';
import type { RestMeta } from '../procedures/meta.ts';

/** The prefixes of URLs in `Link` headers. */
export interface LinkBase {
  /** The public origin, including the path of a proxy if any; `''` for links that are only paths. */
  readonly origin: string;
  /** The origin and the REST base path. */
  readonly rest: string;
}

/** Returns the headers of a deprecated operation (RFC 9745, RFC 8594, RFC 5829). */
export function deprecationHeaders(deprecated: RestMeta['deprecated'], base: LinkBase): readonly Header[] {
  if (typeof deprecated !== 'object') return [];
  const { since, sunset, successor, documentation } = deprecated;
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
export function operationDescription({ description, deprecated }: RestMeta): string | undefined {
  if (typeof deprecated !== 'object') return description;
  const { since, sunset } = deprecated;
  const notice = `Deprecated since ${longDate(since)}${sunset ? `, removed on ${longDate(sunset)}` : ''}.`;
  return description === undefined ? notice : `${description} ${notice}`;
}

/** Formats a date: 5 December 2030. */
const longDate = (date: Date) => date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
