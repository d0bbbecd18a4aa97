// A REST client with the types of the OpenAPI document. `npm run example http`
import type { paths } from '@petstore/types/openapi';
import createClient from 'openapi-fetch';

const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY } = process.env;

const { GET, POST } = createClient<paths>({
  baseUrl: `${PETSTORE_URL}/v1`,
  headers: { authorization: `Bearer ${KEY}` },
});

for (const name of ['Rex', 'Bella', 'Max']) {
  const { data: animal, response } = await POST('/pets', { body: { name, categoryId: 1 } });
  console.log(`added ${animal?.name}: ${response.status} ${response.headers.get('location')}`);
}

// A page links to the next page, if there is one (RFC 8288).
let cursor: number | undefined;
do {
  const query = { limit: 2, ...(cursor !== undefined && { cursor }) };
  const { data = [], response } = await GET('/pets', { params: { query } });
  console.log(`page: ${data.map(({ name }) => name).join(', ')}`);
  cursor = response.headers.get('link')?.includes('rel="next"') ? data.at(-1)?.id : undefined;
} while (cursor !== undefined);

// The types of errors, `{ code, message, status }`, come from the statuses of the document.
const { error } = await GET('/pets', { params: { query: { limit: 1000 } } });
console.log(`${error?.status} ${error?.code}: ${error?.message}`);
