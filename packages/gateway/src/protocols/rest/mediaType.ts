/** A `Content-Type` as far as it decides how a body is read (RFC 9110 §8.3.1). */
export interface MediaType {
  /** Type and subtype, in lower case. */
  readonly essence: string;
  /** In lower case, without quotes; `undefined` where none is named. */
  readonly charset: string | undefined;
}

const json: MediaType = { essence: 'application/json', charset: undefined };

/** Reads a `Content-Type`; `undefined` where there is none. */
export function mediaType(header: string | undefined): MediaType | undefined {
  if (header === undefined) return undefined;
  // Nearly all bodies.
  if (header === 'application/json') return json;
  const [essence = '', ...parameters] = header.toLowerCase().split(';');
  const charset = parameters
    // Trimmed first: white space around a lazy match took cubic time.
    .map((parameter) => /^charset="?([^"\s]*)"?$/.exec(parameter.trim())?.[1])
    .find((value) => value !== undefined);
  return { essence: essence.trim(), charset };
}
