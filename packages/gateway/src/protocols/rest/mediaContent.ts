import type { HttpResponse } from '../../http/response.ts';
import type { MediaWriter } from '../../procedures/meta.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { byteBody } from './byteContent.ts';

/**
 * Encodes an output in a media type.
 * @param path the procedure's path
 * @throws {TypeError} if the writer returns neither a string nor bytes
 * @throws {LimitError} `response-bytes`, for JSON
 */
export function mediaBody(
  path: string,
  output: unknown,
  contentType: string,
  writer: true | MediaWriter,
  maxResponseBytes: number,
): HttpResponse['body'] {
  if (writer === true) return boundedJson(output, maxResponseBytes);
  const written: unknown = writer(output);
  return typeof written === 'string' ? written : byteBody(path, written, contentType);
}
