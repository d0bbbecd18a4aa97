import { isDeepStrictEqual } from 'node:util';
import type { Sent } from './requests.ts';
import type { Outcome } from './servers.ts';

export interface Difference {
  readonly sent: Sent;
  /** The path of the procedure's operation. */
  readonly path: string;
  readonly theirs: Outcome;
  readonly ours: Outcome;
}

interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly data?: object;
  readonly issues?: readonly Issue[];
}
interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}
const errorOf = ({ body }: Outcome): ErrorBody => (typeof body === 'object' ? (body ?? {}) : {});
const statusesOf = ({ theirs, ours }: Difference) => `${theirs.status} ${ours.status}`;
const isHtml = ({ headers }: Outcome) => String(headers['content-type']).startsWith('text/html');

/** Whether the outcomes are the same but for the message of the error and the path of its procedure. */
function differsInWords({ theirs, ours }: Difference): boolean {
  const withoutWords = ({ data, ...error }: ErrorBody) => ({
    ...error,
    message: '',
    data: { ...data, path: '' },
  });
  return (
    isDeepStrictEqual(theirs.headers, ours.headers) &&
    isDeepStrictEqual(withoutWords(errorOf(theirs)), withoutWords(errorOf(ours)))
  );
}

/** Whether only the issues of values that were not sent differ, by their words. */
function differsInAbsence({ theirs, ours }: Difference): boolean {
  const [before = [], after = []] = [errorOf(theirs).issues, errorOf(ours).issues];
  return (
    theirs.status === 400 &&
    ours.status === 400 &&
    before.length === after.length &&
    before.every((issue, index) => {
      const other = after[index];
      if (isDeepStrictEqual(issue, other)) return true;
      return (
        other !== undefined &&
        isDeepStrictEqual([issue.code, issue.path], [other.code, other.path]) &&
        other.message.endsWith('received undefined')
      );
    })
  );
}

/** By the sentences of docs/migrating/from-trpc-to-openapi.md: whether a sentence covers a difference. */
export type Rows = Readonly<Record<string, (difference: Difference) => boolean>>;

const hasParameter = (path: string) => path.includes('{');

/** The row that the compatibility with trpc-to-openapi on Express removes. */
export const emptyQueryRow =
  'On Express, an empty value of a query, `?search=`, is the empty text, not absent; `trpc-to-openapi-express` keeps it absent.';

/** How the gateway with the preset differs from trpc-to-openapi. */
export const presetRows: Rows = {
  // RFC 9110 §9.3.2, §9.3.7 and §15.5.6.
  'Another method of a path is 405, not 404; `HEAD` is `GET` without its body, not 204; `OPTIONS` is 204.': ({
    sent: { method, twist },
    ours: { status, headers },
  }) =>
    method === 'HEAD' ||
    (method === 'OPTIONS' && status === 204 && headers['allow'] !== undefined) ||
    (status === 405 &&
      headers['allow'] !== undefined &&
      (twist === 'otherMethod' || twist === 'unknownPath')),
  // A client that encodes a parameter, as RFC 3986 §2.1 requires, means the text.
  'Paths are percent-decoded; a malformed one is 400.': ({ path, sent: { twist }, ours }) =>
    hasParameter(path) && (twist === 'encoded' || (twist === 'malformedPath' && ours.status === 400)),
  // The order of procedures is not part of an API.
  'A literal path takes precedence over a parameter, in any order.': ({ sent }) =>
    /^\/pets\/mine/i.test(sent.target),
  // The parser of the app ran before trpc-to-openapi.
  'A body that `express.json()` rejects gets an error of the API, not HTML.': ({ sent: { twist }, theirs }) =>
    isHtml(theirs) && theirs.status === 400 && (twist === 'malformedJson' || twist === 'jsonText'),
  // The limit was that of the app’s parser.
  'Bodies may have 1 MiB (`maxBodySize`), not 100 kB.': ({ sent, theirs }) =>
    theirs.status === 413 && sent.twist === 'largeBody',
  // RFC 9110 §8.3.1; generated clients send no media type without a body.
  'The name of a media type has no case, and an operation without a body needs none.': ({ theirs, ours }) =>
    theirs.status === 415 && ours.status !== 415,
  // trpc-to-openapi follows it without end.
  'A schema that contains itself is converted, not 500.': ({ path, theirs }) =>
    path === '/rules' && theirs.status === 500,
  // trpc-to-openapi converts undefined, and the issue then names what the client never sent.
  'A missing value has the issue of zod, not that of `NaN`.': differsInAbsence,
  // No procedure runs, so no error formatter gets the path of one.
  'The messages of 404 and 415 are the gateway’s, without `data.path`.': (difference) =>
    ['404 404', '415 415'].includes(statusesOf(difference)) && differsInWords(difference),
  // A client that sends a list of one cannot send it otherwise.
  'One value is a list for every array in a query, which was 400 if it is nullable or has a default.': ({
    path,
    theirs,
    ours,
  }) => path === '/tag.find' && theirs.status === 400 && ours.status === 200,
  // trpc-to-openapi itself reads the empty text, but the parser of Express hides it.
  [emptyQueryRow]: ({ sent }) => /[?&][^=&]*=?(?:&|$)/.test(sent.target),
};

const ranWithOther = ({ theirs, ours }: Difference) =>
  theirs.status === ours.status && !isDeepStrictEqual(theirs.inputs, ours.inputs);
/** Whether a request is rejected that was not. */
const isRejected = ({ theirs, ours }: Difference) => ours.status === 400 && theirs.status !== 400;

/** How the gateway without the preset differs further. */
export const strictRows: Rows = {
  // RFC 3986: another path is another resource.
  'A path with a slash at its end is 404.': ({ sent, ours }) => sent.twist === 'slash' && ours.status === 404,
  // RFC 3986: another path is another resource.
  'A path in another case is 404.': ({ sent, ours }) => sent.twist === 'case' && ours.status === 404,
  // One format for every client, which tells nobody what is inside.
  'An error is `{ code, message, status }`, and the message of an unexpected one is hidden; `errorFormat: trpcToOpenApiErrors` keeps the old body.':
    ({ theirs, ours }) =>
      theirs.status >= 400 &&
      theirs.status === ours.status &&
      isDeepStrictEqual(theirs.inputs, ours.inputs) &&
      Object.keys(ours.body as object)
        .toSorted()
        .join() === 'code,message,status',
  // RFC 9110 §15.3.5.
  'An output of `z.void()` is 204, not 200.': ({ theirs, ours }) =>
    theirs.status === 200 &&
    ours.status === 204 &&
    theirs.body === '' &&
    isDeepStrictEqual(theirs.inputs, ours.inputs),
  // As over tRPC.
  'An optional input without a value is `undefined` as over tRPC, or its default, not `{}`.': (difference) =>
    ranWithOther(difference) &&
    !difference.sent.body &&
    (difference.ours.inputs[0] === undefined || difference.path === '/tags/list'),
  // What is not exactly a value is a mistake of the client, which it should see.
  'A text of a query or a path that is not exactly a value of its schema is 400: `+5`, `1e1` for an integer, `yes` for a boolean, a name that is repeated.':
    (difference) => isRejected(difference) && !difference.sent.body,
  // What is not exactly a value is a mistake of the client, which it should see.
  'Values of a JSON body are not converted, except dates of RFC 3339, in unions too.': (difference) =>
    difference.sent.body !== undefined && (isRejected(difference) || ranWithOther(difference)),
  // What is not exactly a value is a mistake of the client, which it should see.
  '`?flag=false` is false, not true.': (difference) =>
    ranWithOther(difference) && difference.sent.target.includes('=false'),
  // Proxies and campaigns add parameters to URLs.
  'Parameters that `z.strictObject()` does not name are ignored, which were 400.': ({ path, theirs, ours }) =>
    path === '/strict' && theirs.status === 400 && ours.status === 200,
};
