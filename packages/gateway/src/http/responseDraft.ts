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
    sharedHeaders: readonly Header[] = none,
  ) {
    this.status = status;
    this.headers = headers;
    this.sharedHeaders = sharedHeaders;
    this.body = body;
  }

  /** A copy of a response that others may hold, such as the constant of a page. */
  static of({ status, headers, body, sharedHeaders }: HttpResponse): ResponseDraft {
    return new ResponseDraft(status, [...headers], body, sharedHeaders);
  }

  /** The value of the first header of this name, in lower case. */
  header(name: string): string | undefined {
    return headersOf(this).find(([other]) => other.toLowerCase() === name)?.[1];
  }
}

const none: readonly Header[] = [];
