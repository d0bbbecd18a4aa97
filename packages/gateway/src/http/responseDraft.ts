// Hot path: one object per response.
import { headersOf, type Header, type HttpResponse } from './response.ts';

/** A response that policies may still change. */
export class ResponseDraft implements HttpResponse {
  status: number;
  headers: Header[];
  sharedHeaders: readonly Header[];
  body: HttpResponse['body'];

  constructor(
    status: number,
    headers: Header[],
    body?: HttpResponse['body'],
    sharedHeaders: readonly Header[] = noHeaders,
  ) {
    this.status = status;
    this.headers = headers;
    this.sharedHeaders = sharedHeaders;
    this.body = body;
  }

  /** Copies a response that may be shared, such as a constant. */
  static of({ status, headers, body, sharedHeaders }: HttpResponse): ResponseDraft {
    return new ResponseDraft(status, [...headers], body, sharedHeaders);
  }

  /** Returns the value of the first header with a name, given in lower case. */
  header(name: string): string | undefined {
    return headersOf(this).find(([other]) => other.toLowerCase() === name)?.[1];
  }
}

const noHeaders: readonly Header[] = [];
