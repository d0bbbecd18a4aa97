import { TRPCError } from '@trpc/server';
import type { RequestContext, RequestPolicy } from '../calls/requestContext.ts';
import type { HttpRequest } from '../http/request.ts';
import { passesOriginCheck, safeMethods, type OriginCheck } from './origins.ts';

/** The error for a request that a page of another site sent with a credential that the browser added. */
export const crossSiteError = new TRPCError({
  code: 'FORBIDDEN',
  message:
    "Pages of other sites are not allowed to send requests with their visitors' credentials. To allow the pages of an origin, add it to cors.origins and set cors.credentials.",
});

/** Whether a request can change state. A WebSocket can, despite its method `GET`. */
export const canChangeState = ({ kind, request, target }: RequestContext): boolean =>
  kind === 'socket' || !safeMethods.has(request.method) || target.isUnsafe === true;

/**
 * Creates the policy of a gateway without `authentication`, whose router may check credentials in its middlewares. It
 * rejects what a page of another site can forge with them (CSRF): a request that can change state, that has a credential
 * that browsers add, and that browsers send without asking by a CORS preflight. A public operation is exempt.
 */
export const crossSitePolicy = (isSameSite: OriginCheck): RequestPolicy => ({
  admit(context) {
    // A `GET` and a `POST` of JSON end here: the first reads no header, the second one.
    if (!canChangeState(context) || context.target.isPublic || needsPreflight(context)) return undefined;
    if (!hasAmbientCredential(context.request) || passesOriginCheck(isSameSite, context)) return undefined;
    return crossSiteError;
  },
});

/** Whether browsers ask by a preflight before a page of another origin sends such a request (WHATWG Fetch §4.1, §2.2.2). */
function needsPreflight({ kind, request }: RequestContext): boolean {
  const { method } = request;
  if (kind === 'socket' || method === 'GET') return false;
  if (method !== 'POST') return true;
  const type = request.header('content-type');
  return type !== undefined && !isFormType(type);
}

/** Whether pages may send a media type without a preflight: those of HTML forms. */
export const isFormType = (type: string): boolean => formType.test(type);

const formType =
  /^[\t\n\r ]*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)[\t\n\r ]*(?:;|$)/i;

/** Whether a request has a credential that browsers add by themselves: bearer tokens and API keys are none. */
function hasAmbientCredential(request: HttpRequest): boolean {
  if (request.header('cookie') !== undefined) return true;
  if (storedPassword.test(request.header('authorization') ?? '')) return true;
  for (const [name, value] of request.headers())
    if (value !== '' && clientCertificate.test(name)) return true;
  return false;
}

/** The schemes of HTTP authentication whose credentials browsers store. */
const storedPassword = /^(?:basic|digest|negotiate|ntlm)(?: |$)/i;

/** The header in which a proxy forwards a client certificate: `Client-Cert` (RFC 9440) and the names that proxies use. */
const clientCertificate = /client-?cert(?:-chain|-leaf)?$/;
