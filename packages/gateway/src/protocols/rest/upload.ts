import { byteStream } from '../../http/byteStream.ts';
import type { MaybePromise } from '../../http/after.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { OperationUpload } from '../../openapi/uploadInput.ts';
import { receiveError } from './receiveError.ts';

/** A body that is passed on as it is. */
export class Upload {
  /** What the procedure takes. */
  readonly content: unknown;

  constructor(content: unknown) {
    this.content = content;
  }
}

/**
 * Receives a body of bytes; of a stream nothing is read.
 * @param maxBodyBytes the largest body in memory
 * @throws {LimitError} `body-bytes`; of a stream, where its length says so. Otherwise the stream has the error
 * @throws {TRPCError} `CLIENT_CLOSED_REQUEST`
 */
export function receiveUpload(
  request: HttpRequest,
  { kind, maxBytes: ownMaxBytes }: OperationUpload,
  maxBodyBytes: number,
): MaybePromise<Upload> {
  const maxBytes = ownMaxBytes ?? maxBodyBytes;
  if (Number(request.header('content-length')) > maxBytes)
    throw receiveError(new BodyTooLargeError(maxBytes));
  if (kind === 'stream') return new Upload(byteStream(request, maxBytes, receiveError));
  return request.body(maxBytes).then(
    (bytes) =>
      new Upload(
        kind === 'bytes' ? bytes : new Blob([bytes], { type: request.header('content-type') ?? '' }),
      ),
    (cause: unknown) => {
      throw receiveError(cause);
    },
  );
}
