#include "hooks/checkpoint_saver_hook.h"
#include "r/loop/loop.h"
#include "r/loop/session.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

class RListener : public CheckpointListener {
 public:
  explicit RListener(SEXP methods) : methods_(methods) {}
  std::string name() const override { return "CheckpointSaverListener"; }
  void begin(Graph&) override { call_r_function(method("begin")); }
  void before_save(Session& session, int64_t step) override { call("before_save", session, step); }
  bool after_save(Session& session, int64_t step) override {
    Rcpp::Shield<SEXP> result(call("after_save", session, step));
    return result != R_NilValue && Rf_xlength(result) == 1 && is_true(result);
  }
  void end(Session& session, int64_t step) override { call("end", session, step); }

 private:
  // Whether a value counts as true, as in Python: TRUE, a non-zero number or a non-empty string.
  static bool is_true(SEXP x) {
    if (TYPEOF(x) == STRSXP) return !equals_ascii(STRING_ELT(x, 0), "");
    return Rf_isNumeric(x) || Rf_isLogical(x) ? Rf_asLogical(x) == TRUE : false;
  }
  SEXP method(const char* name) const {
    return function_from_r(RList(methods_.get(), "a listener").find(name), name);
  }
  SEXP call(const char* name, Session& session, int64_t step) {
    Rcpp::Shield<SEXP> handle(session_handle(session));
    Rcpp::Shield<SEXP> number(Rf_ScalarReal(static_cast<double>(step)));
    return call_r_function(method(name), {handle, number});
  }

  Preserved methods_;
};

}  // namespace

std::vector<ListenerPtr> listeners_from_r(SEXP listeners) {
  std::vector<ListenerPtr> list;
  const RList elements(listeners, "`listeners`");
  for (R_xlen_t i = 0; i < elements.size(); ++i) {
    list.push_back(std::make_shared<RListener>(elements[i]));
  }
  return list;
}

}  // namespace r
}  // namespace runhooks
