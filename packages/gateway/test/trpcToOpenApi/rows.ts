import { isDeepStrictEqual } from 'node:util';
import type { Sent } from './requests.ts';
import type { Outcome } from './servers.ts';

/** A request whose outcome differs. */
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

/** A sentence of docs/migrating/from-trpc-to-openapi.md: why it is so, and the differences that it covers. */
interface Row {
  readonly why: string;
  readonly covers: (difference: Difference) => boolean;
}
export type Rows = Readonly<Record<string, Row>>;

const hasParameter = (path: string) => path.includes('{');

/** The row that the compatibility with trpc-to-openapi on Express removes. */
export const emptyQueryRow =
  'On Express, an empty value of a query, `?search=`, is the empty text, not absent; `trpc-to-openapi-express` keeps it absent.';

/** How the gateway with the preset differs from trpc-to-openapi. */
export const presetRows: Rows = {
  'Another method of a path is 405, not 404; `HEAD` is `GET` without its body, not 204; `OPTIONS` is 204.': {
    why: 'RFC 9110 §9.3.2, §9.3.7 and §15.5.6',
    covers: ({ sent: { method, twist }, ours: { status, headers } }) =>
      method === 'HEAD' ||
      (method === 'OPTIONS' && status === 204 && headers['allow'] !== undefined) ||
      (status === 405 &&
        headers['allow'] !== undefined &&
        (twist === 'otherMethod' || twist === 'unknownPath')),
  },
  'Paths are percent-decoded; a malformed one is 400.': {
    why: 'A client that encodes a parameter, as RFC 3986 §2.1 requires, means the text',
    covers: ({ path, sent: { twist }, ours }) =>
      hasParameter(path) && (twist === 'encoded' || (twist === 'malformedPath' && ours.status === 400)),
  },
  'A literal path takes precedence over a parameter, in any order.': {
    why: 'The order of procedures is not part of an API',
    covers: ({ sent }) => /^\/pets\/mine/i.test(sent.target),
  },
  'A body that `express.json()` rejects gets an error of the API, not HTML.': {
    why: 'The parser of the app ran before trpc-to-openapi',
    covers: ({ sent: { twist }, theirs }) =>
      isHtml(theirs) && theirs.status === 400 && (twist === 'malformedJson' || twist === 'jsonText'),
  },
  'Bodies may have 1 MiB (`maxBodySize`), not 100 kB.': {
    why: 'The limit was that of the app’s parser',
    covers: ({ sent, theirs }) => theirs.status === 413 && sent.twist === 'largeBody',
  },
  'The name of a media type has no case, and an operation without a body needs none.': {
    why: 'RFC 9110 §8.3.1; generated clients send no media type without a body',
    covers: ({ theirs, ours }) => theirs.status === 415 && ours.status !== 415,
  },
  'A schema that contains itself is converted, not 500.': {
    why: 'trpc-to-openapi follows it without end',
    covers: ({ path, theirs }) => path === '/rules' && theirs.status === 500,
  },
  'A missing value has the issue of zod, not that of `NaN`.': {
    why: 'trpc-to-openapi converts undefined, and the issue then names what the client never sent',
    covers: differsInAbsence,
  },
  'The messages of 404 and 415 are the gateway’s, without `data.path`.': {
    why: 'No procedure runs, so no error formatter gets the path of one',
    covers: (difference) =>
      ['404 404', '415 415'].includes(statusesOf(difference)) && differsInWords(difference),
  },
  'One value is a list for every array in a query, which was 400 if it is nullable or has a default.': {
    why: 'A client that sends a list of one cannot send it otherwise',
    covers: ({ path, theirs, ours }) => path === '/tag.find' && theirs.status === 400 && ours.status === 200,
  },
  [emptyQueryRow]: {
    why: 'trpc-to-openapi itself reads the empty text, but the parser of Express hides it',
    covers: ({ sent }) => /[?&][^=&]*=?(?:&|$)/.test(sent.target),
  },
};

const ranWithOther = ({ theirs, ours }: Difference) =>
  theirs.status === ours.status && !isDeepStrictEqual(theirs.inputs, ours.inputs);
/** Whether a request is rejected that was not. */
const isRejected = ({ theirs, ours }: Difference) => ours.status === 400 && theirs.status !== 400;

const strictWhy = {
  url: 'RFC 3986: another path is another resource',
  format: 'One format for every client, which tells nobody what is inside',
  exact: 'What is not exactly a value is a mistake of the client, which it should see',
  trpc: 'As over tRPC',
};

/** How the gateway without the preset differs further. */
export const strictRows: Rows = {
  'A path with a slash at its end is 404.': {
    why: strictWhy.url,
    covers: ({ sent, ours }) => sent.twist === 'slash' && ours.status === 404,
  },
  'A path in another case is 404.': {
    why: strictWhy.url,
    covers: ({ sent, ours }) => sent.twist === 'case' && ours.status === 404,
  },
  'An error is `{ code, message, status }`, and the message of an unexpected one is hidden; `errorFormat: trpcToOpenApiErrors` keeps the old body.':
    {
      why: strictWhy.format,
      covers: ({ theirs, ours }) =>
        theirs.status >= 400 &&
        theirs.status === ours.status &&
        isDeepStrictEqual(theirs.inputs, ours.inputs) &&
        Object.keys(ours.body as object)
          .toSorted()
          .join() === 'code,message,status',
    },
  'An output of `z.void()` is 204, not 200.': {
    why: 'RFC 9110 §15.3.5',
    covers: ({ theirs, ours }) =>
      theirs.status === 200 &&
      ours.status === 204 &&
      theirs.body === '' &&
      isDeepStrictEqual(theirs.inputs, ours.inputs),
  },
  'An optional input without a value is `undefined` as over tRPC, or its default, not `{}`.': {
    why: strictWhy.trpc,
    covers: (difference) =>
      ranWithOther(difference) &&
      !difference.sent.body &&
      (difference.ours.inputs[0] === undefined || difference.path === '/tags/list'),
  },
  'A text of a query or a path that is not exactly a value of its schema is 400: `+5`, `1e1` for an integer, `yes` for a boolean, a name that is repeated.':
    { why: strictWhy.exact, covers: (difference) => isRejected(difference) && !difference.sent.body },
  'Values of a JSON body are not converted, except dates of RFC 3339, in unions too.': {
    why: strictWhy.exact,
    covers: (difference) =>
      difference.sent.body !== undefined && (isRejected(difference) || ranWithOther(difference)),
  },
  '`?flag=false` is false, not true.': {
    why: strictWhy.exact,
    covers: (difference) => ranWithOther(difference) && difference.sent.target.includes('=false'),
  },
  'Parameters that `z.strictObject()` does not name are ignored, which were 400.': {
    why: 'Proxies and campaigns add parameters to URLs',
    covers: ({ path, theirs, ours }) => path === '/strict' && theirs.status === 400 && ours.status === 200,
  },
};
