import type { MediaWriter } from '../../procedures/meta.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { byteContent } from './byteContent.ts';
import type { ResponseContent } from './successResponse.ts';

/**
 * Encodes an output in a media type.
 * @param path the procedure's path
 * @throws {TypeError} if the writer returns neither a string nor bytes
 * @throws {LimitError} `response-bytes`, for JSON
 */
export function mediaContent(
  path: string,
  output: unknown,
  contentType: string,
  writer: true | MediaWriter,
  maxResponseBytes: number,
): ResponseContent {
  const headers = [['content-type', contentType]] as const;
  if (writer === true) return { headers, body: boundedJson(output, maxResponseBytes) };
  const written: unknown = writer(output);
  // Not the type of a Blob, which the request may not accept.
  return {
    headers,
    body: typeof written === 'string' ? written : byteContent(path, written, contentType).body,
  };
}
