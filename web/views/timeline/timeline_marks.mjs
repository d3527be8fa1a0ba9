// SPDX-License-Identifier: Apache-2.0
// Bookmarks of a timeline: views kept in the address, so that a link carries them.
import { html } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { marks_of, marks_text, MOST_MARKS } from "../../charts/timeline/timeline_marks_model.mjs";
import { same_span, span_of, whole_span } from "../../charts/timeline/timeline_view.mjs";

/** The bookmarks in the address and what changes them. */
export function use_marks(query, change) {
  const marks = marks_of(query.marks);
  const add = (view) => {
    const span = whole_span(view);
    if (marks.some((mark) => same_span(mark, span))) return;
    if (marks.length === MOST_MARKS) {
      announce(`There are ${MOST_MARKS} bookmarks already: remove one first.`);
      return;
    }
    change({ marks: marks_text([...marks, span]) });
  };
  const drop = (at) => change({ marks: marks_text(marks.filter((_, i) => i !== at)) });
  return { marks, add, drop };
}

/** @param {{marks: any[], onadd: () => void, ondrop: (i: number) => void,
 *           ongo: (span: any) => void}} props */
export function Marks({ marks, onadd, ondrop, ongo }) {
  return html`<div class="segments tl-marks" role="group" aria-label="Bookmarks">
    <button type="button" class="small" title="Bookmark this view in the address, key b"
      onClick=${onadd}>Bookmark</button>
    ${marks.map((mark, i) => html`<span key=${`${mark.from}-${mark.to}`} class="tl-mark"><button
      type="button" class="small" title="Key ${i + 1}"
      aria-label="Bookmark ${i + 1}, ${length_text(span_of(mark))}"
      onClick=${() => ongo(mark)}>${i + 1}</button><button type="button" class="small"
      aria-label="Remove bookmark ${i + 1}" onClick=${() => ondrop(i)}>×</button></span>`)}</div>`;
}
