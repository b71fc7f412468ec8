// offline.js - search for a site that is opened as files. Browsers then start no workers and read no JSON, so this script
// replaces mkdocs' worker. It finds pages that contain all words, pages with a word in the title first.
// SPDX-License-Identifier: MIT
if (window.location.protocol === "file:") {
  window.Worker = function () {
    var worker = this, docs = [];
    function tell(data) { worker.onmessage({data: data}); }
    function found(query) {
      var words = query.toLowerCase().split(/\s+/).filter(Boolean);
      function has(text) { return function (word) { return text.toLowerCase().indexOf(word) >= 0; }; }
      return docs.filter(function (doc) { return words.every(has(doc.title + " " + doc.text)); })
        .map(function (doc) { return {doc: doc, rank: words.filter(has(doc.title)).length}; })
        .sort(function (a, b) { return b.rank - a.rank || a.doc.title.length - b.doc.title.length; })
        .slice(0, 50)
        .map(function (hit) { return {location: hit.doc.location, title: hit.doc.title, summary: hit.doc.text.slice(0, 200)}; });
    }
    worker.postMessage = function (message) {
      if (message.query) { return tell({results: found(message.query)}); }
      var script = document.createElement("script");
      script.src = (base_url || ".") + "/search/index.js"; // the index as a script, which tells it by searchIndex
      window.searchIndex = function (index) {
        docs = index.docs;
        tell({config: {min_search_length: 3}});
        tell({allowSearch: true});
      };
      document.head.appendChild(script);
    };
  };
}
